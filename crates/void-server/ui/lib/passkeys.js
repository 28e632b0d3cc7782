// @ts-check
// Passkeys: what the server says in base64url, as the browser wants it, and the answer back. Whether
// this page may use them at all depends on its address.

import { post } from "./api.js";

/** A name is needed, and a way that nobody listens on; the browser's own word is the last. */
export const passkeysWork = () => isSecureContext && "PublicKeyCredential" in window && !isAddress();

/** Whether the page was opened by a bare address; no passkey belongs to one. */
export const isAddress = () => /^(\d{1,3}(\.\d{1,3}){3}|\[.*\])$/.test(location.hostname);

/** Whether the machine is this one, which has a name that works. */
export const isLoopback = () => location.hostname === "127.0.0.1" || location.hostname === "[::1]";

/** @param {string} text base64url @returns {ArrayBuffer} */
function bytesOf(text) {
  const raw = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(raw, (letter) => letter.charCodeAt(0)).buffer;
}

/** @param {ArrayBuffer | null | undefined} bytes @returns {string | null} base64url without padding */
function textOf(bytes) {
  if (!bytes) return null;
  const raw = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join("");
  return btoa(raw).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** @param {PublicKeyCredentialDescriptorJSON[] | undefined} list */
const named = (list) =>
  /** @type {PublicKeyCredentialDescriptor[] | undefined} */ (list?.map((one) => ({ ...one, id: bytesOf(one.id) })));

/**
 * Proves who one is with a passkey.
 * @returns {Promise<{challenge: string, credential: Record<string, unknown>}>} for `/api/session` or its confirmation
 */
export async function showPasskey() {
  const { challenge, options } = await post("/api/session/challenge");
  const asked = /** @type {PublicKeyCredentialRequestOptionsJSON} */ (options.publicKey ?? options);
  const publicKey = /** @type {PublicKeyCredentialRequestOptions} */ ({
    ...asked,
    challenge: bytesOf(asked.challenge),
    allowCredentials: named(asked.allowCredentials),
  });
  const shown = /** @type {PublicKeyCredential} */ (await navigator.credentials.get({ publicKey }));
  const response = /** @type {AuthenticatorAssertionResponse} */ (shown.response);
  return {
    challenge,
    credential: wire(shown, {
      authenticatorData: textOf(response.authenticatorData),
      clientDataJSON: textOf(response.clientDataJSON),
      signature: textOf(response.signature),
      userHandle: textOf(response.userHandle),
    }),
  };
}

/**
 * Makes a passkey on this device and has the server store it.
 * @param {string} name what the owner calls it
 */
export async function makePasskey(name) {
  const { challenge, options } = await post("/api/passkeys/challenge");
  const asked = /** @type {PublicKeyCredentialCreationOptionsJSON} */ (options.publicKey ?? options);
  const publicKey = /** @type {PublicKeyCredentialCreationOptions} */ ({
    ...asked,
    challenge: bytesOf(asked.challenge),
    user: { ...asked.user, id: bytesOf(asked.user.id) },
    excludeCredentials: named(asked.excludeCredentials),
  });
  const made = /** @type {PublicKeyCredential} */ (await navigator.credentials.create({ publicKey }));
  const response = /** @type {AuthenticatorAttestationResponse} */ (made.response);
  return post("/api/passkeys", {
    challenge,
    name,
    credential: wire(made, {
      attestationObject: textOf(response.attestationObject),
      clientDataJSON: textOf(response.clientDataJSON),
      transports: response.getTransports?.() ?? [],
    }),
  });
}

/** @param {PublicKeyCredential} credential @param {Record<string, unknown>} response */
function wire(credential, response) {
  return {
    id: credential.id,
    rawId: textOf(credential.rawId),
    type: credential.type,
    response,
    clientExtensionResults: credential.getClientExtensionResults(),
  };
}

const BROWSERS = /** @type {const} */ ([
  ["Edg", "Edge"],
  ["OPR/", "Opera"],
  ["SamsungBrowser", "Samsung Internet"],
  ["Firefox", "Firefox"],
  ["FxiOS", "Firefox"],
  ["CriOS", "Chrome"],
  ["Chrome", "Chrome"],
  ["Safari", "Safari"],
]);
const SYSTEMS = /** @type {const} */ ([
  ["Android", "Android"],
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Windows", "Windows"],
  ["CrOS", "ChromeOS"],
  ["Mac OS X", "macOS"],
  ["Linux", "Linux"],
]);

/** What this device may be called, until the owner knows better: the words that the server uses too. */
export function deviceName() {
  /** @param {readonly (readonly [string, string])[]} words */
  const known = (words) => words.find(([mark]) => navigator.userAgent.includes(mark))?.[1];
  return [known(BROWSERS), known(SYSTEMS)].filter(Boolean).join(" on ") || "This device";
}
