// Compares the checks of a conformance run with what is expected of it.
//   node compare.mjs EXPECTED RUN RESULTS_FOLDER
// A failure that is not expected fails, and so does an expected one that passed.
import fs from "node:fs";
import path from "node:path";

const [expectedFile, run, folder] = process.argv.slice(2);
const reasons = new Set();
const expected = new Set();
for (const line of fs.readFileSync(expectedFile, "utf8").split("\n")) {
  if (line === "" || line.startsWith("#")) continue;
  const reason = line.match(/^([a-z-]+): ./);
  if (reason) {
    reasons.add(reason[1]);
    continue;
  }
  const [lineRun, scenario, check, because] = line.split(" ");
  if (!reasons.has(because)) throw new Error(`no reason is given for: ${line}`);
  if (lineRun === run) expected.add(`${scenario} ${check}`);
}

const failed = new Set();
let passed = 0;
for (const entry of fs.readdirSync(folder)) {
  const scenario = entry.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
  const checks = JSON.parse(fs.readFileSync(path.join(folder, entry, "checks.json"), "utf8"));
  for (const check of checks) {
    if (check.status === "FAILURE") {
      failed.add(`${scenario} ${check.id}`);
      if (!expected.has(`${scenario} ${check.id}`)) {
        console.error(`not expected: ${run} ${scenario} ${check.id}: ${check.errorMessage}`);
        process.exitCode = 1;
      }
    } else if (check.status === "SUCCESS") passed += 1;
  }
}
for (const one of expected) {
  if (failed.has(one)) continue;
  console.error(`expected to fail and did not: ${run} ${one}`);
  process.exitCode = 1;
}
if (passed === 0) {
  console.error(`${run}: nothing passed at all`);
  process.exitCode = 1;
}
console.log(`${run}: ${passed} checks passed, ${failed.size} failed as expected`);
