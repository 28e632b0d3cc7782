//! A passkey authenticator in software: ES256, attestation "none". It answers as a browser's
//! `credential.toJSON()` does, and can be told to misbehave.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use serde_json::{Value, json};
use void_domain::digests::Digest;

const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;
const HAS_CREDENTIAL: u8 = 0x40;

#[derive(Clone)]
pub struct Authenticator {
    key: SigningKey,
    credential_id: Vec<u8>,
    /// Said with the next signature; counts up by itself unless it stands at 0.
    pub counter: u32,
    /// Whether it says that it knows who touched it.
    pub verifies_user: bool,
    /// The page that it believes to be on.
    pub origin: String,
    /// The name that it signs for, instead of the one it is asked for.
    pub relying_party: Option<String>,
    /// What it signs, instead of what it is asked to.
    pub challenge: Option<String>,
}

impl Authenticator {
    /// One with a key of its own for every `seed`, on the page of this origin.
    pub fn new(seed: u8, origin: &str) -> Self {
        Self {
            key: SigningKey::from_slice(&[seed.max(1); 32]).expect("a scalar"),
            credential_id: vec![seed; 16],
            counter: 1,
            verifies_user: true,
            origin: origin.to_owned(),
            relying_party: None,
            challenge: None,
        }
    }

    /// `navigator.credentials.create()`
    pub fn create(&mut self, options: &Value) -> Value {
        let mut data = self.data(word(options, "/rp/id"), HAS_CREDENTIAL);
        data.extend([0; 16]);
        data.extend(length(&self.credential_id));
        data.extend(&self.credential_id);
        data.extend(self.public_key());
        let client = self.client_data("webauthn.create", options);
        let response = json!({
            "attestationObject": encoded(&attestation(&data)),
            "clientDataJSON": encoded(&client),
            "transports": ["internal"],
        });
        self.credential(response)
    }

    /// `navigator.credentials.get()`
    pub fn get(&mut self, options: &Value) -> Value {
        let data = self.data(word(options, "/rpId"), 0);
        let client = self.client_data("webauthn.get", options);
        let signed = [data.as_slice(), Digest::of(&client).as_bytes()].concat();
        let signature: Signature = self.key.sign(&signed);
        let response = json!({
            "authenticatorData": encoded(&data),
            "clientDataJSON": encoded(&client),
            "signature": encoded(signature.to_der().as_bytes()),
            "userHandle": null,
        });
        self.credential(response)
    }

    fn credential(&self, response: Value) -> Value {
        json!({
            "id": encoded(&self.credential_id),
            "rawId": encoded(&self.credential_id),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": response,
        })
    }

    /// Authenticator data up to the counter.
    fn data(&mut self, asked_for: &str, more: u8) -> Vec<u8> {
        let relying_party = self.relying_party.as_deref().unwrap_or(asked_for);
        let mut data = Digest::of(relying_party.as_bytes()).as_bytes().to_vec();
        let verified = if self.verifies_user { USER_VERIFIED } else { 0 };
        data.push(USER_PRESENT | verified | more);
        data.extend(self.counter.to_be_bytes());
        if self.counter > 0 {
            self.counter += 1;
        }
        data
    }

    fn client_data(&self, kind: &str, options: &Value) -> Vec<u8> {
        let asked = word(options, "/challenge");
        let challenge = self.challenge.as_deref().unwrap_or(asked);
        let data = json!({
            "type": kind,
            "challenge": challenge,
            "origin": self.origin,
            "crossOrigin": false,
        });
        data.to_string().into_bytes()
    }

    /// A COSE key: EC2, ES256, P-256, x and y.
    fn public_key(&self) -> Vec<u8> {
        let point = self.key.verifying_key().to_sec1_point(false);
        let (x, y) = (point.x().expect("x"), point.y().expect("y"));
        let mut key = vec![0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20];
        key.extend(x.as_slice());
        key.extend([0x22, 0x58, 0x20]);
        key.extend(y.as_slice());
        key
    }
}

/// CBOR: `{"fmt": "none", "attStmt": {}, "authData": data}`.
fn attestation(data: &[u8]) -> Vec<u8> {
    let mut object = vec![0xa3];
    let text = |object: &mut Vec<u8>, text: &str| {
        object.push(0x60 | u8::try_from(text.len()).expect("a short text"));
        object.extend(text.as_bytes());
    };
    text(&mut object, "fmt");
    text(&mut object, "none");
    text(&mut object, "attStmt");
    object.push(0xa0);
    text(&mut object, "authData");
    object.push(0x59);
    object.extend(length(data));
    object.extend(data);
    object
}

fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn length(bytes: &[u8]) -> [u8; 2] {
    let length = u16::try_from(bytes.len()).expect("fits into two bytes");
    length.to_be_bytes()
}

fn word<'a>(options: &'a Value, pointer: &str) -> &'a str {
    let value = options.pointer(pointer).and_then(Value::as_str);
    value.expect("a text in the options")
}
