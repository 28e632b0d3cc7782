// @ts-check
// What a model cost, in dollars: to the cent, and below one no false zero.

const MICROS = 1_000_000;
const CENT_MICROS = 10_000;
const dollars = new Intl.NumberFormat("en", { style: "currency", currency: "USD" });

/** @param {number} micros millionths of a dollar */
export const costWords = (micros) =>
  micros > 0 && micros < CENT_MICROS ? `< ${dollars.format(CENT_MICROS / MICROS)}` : dollars.format(micros / MICROS);
