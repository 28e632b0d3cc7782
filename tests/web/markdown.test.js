// What the chat makes of a model's text. Run with `node --test tests/web/`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseInline } from "../../crates/void-server/ui/chat/markdown-inline.js";
import { cleanMarkdown, isHarmless } from "../../crates/void-server/ui/chat/markdown-links.js";
import { wordsOf } from "../../crates/void-server/ui/chat/markdown-spans.js";
import { parseMarkdown, settledBlocks } from "../../crates/void-server/ui/chat/markdown.js";

/** How much time of a processor 200 KB of anything may take, with room for a slow one. */
const BOUND_MS = 1500;
const SIZE = 200 * 1024;

/** Every link of a tree. @param {any} value @returns {string[]} */
function links(value) {
  if (Array.isArray(value)) return value.flatMap(links);
  if (value === null || typeof value !== "object") return [];
  return [...(value.type === "link" ? [value.to] : []), ...Object.values(value).flatMap(links)];
}

/** Blocks without their places, as far as they matter. @param {any[]} blocks @returns {any[]} */
const bare = (blocks) => JSON.parse(JSON.stringify(blocks, (key, value) => (key === "from" ? undefined : value)));

/** @param {string} words */
const text = (words) => ({ type: "text", text: words });

test("paragraphs, headings and rules", () => {
  assert.deepEqual(bare(parseMarkdown("# One #\n\ntwo\nthree\n\n---\n\n####### seven")), [
    { type: "heading", level: 1, inline: [text("One")] },
    { type: "paragraph", inline: [text("two\nthree")] },
    { type: "rule" },
    { type: "paragraph", inline: [text("####### seven")] },
  ]);
});

test("bold, italic, struck and code within each other", () => {
  assert.deepEqual(parseInline("***a** b* ~~c~~ `*d*` 2 * 3 * 4 snake_case_name"), [
    { type: "em", children: [{ type: "strong", children: [text("a")] }, text(" b")] },
    text(" "),
    { type: "del", children: [text("c")] },
    text(" "),
    { type: "code", text: "*d*" },
    text(" 2 * 3 * 4 snake_case_name"),
  ]);
  assert.deepEqual(parseInline("**not closed"), [text("**not closed")]);
  assert.deepEqual(parseInline("``a ` b`` and `open"), [{ type: "code", text: "a ` b" }, text(" and `open")]);
  assert.deepEqual(parseInline("\\*plain\\* a\\\nb"), [text("*plain* a"), { type: "break" }, text("b")]);
  assert.deepEqual(parseInline("a  \nb"), [text("a"), { type: "break" }, text("b")]);
});

test("nested lists", () => {
  const [list] = bare(parseMarkdown("- a\n  - b\n    1. c\n    2. d\n  - e\n- f"));
  assert.equal(list.type, "list");
  assert.equal(list.isTight, true);
  assert.equal(list.items.length, 2);
  const [, inner] = list.items[0];
  assert.equal(inner.items.length, 2);
  const [, numbered] = inner.items[0];
  assert.equal(numbered.isOrdered, true);
  assert.deepEqual(numbered.items.map((/** @type {any} */ item) => wordsOf(item[0].inline)), ["c", "d"]);
});

test("lists begin where they say, part by blank lines, and hold code", () => {
  const [list] = bare(parseMarkdown("3. a\n\n   ```sh\n   ls\n\n   - not a list\n   ```\n4. b"));
  assert.equal(list.start, 3);
  assert.equal(list.isTight, false);
  assert.deepEqual(list.items[0][1], { type: "code", text: "ls\n\n- not a list", info: "sh", isOpen: false });
  assert.equal(list.items.length, 2);
});

test("what only looks like a list", () => {
  assert.equal(parseMarkdown("It was\n1986. A good year").length, 1);
  assert.equal(parseMarkdown("-no\n*no*")[0]?.type, "paragraph");
});

test("a fence that is not closed yet is code to the end", () => {
  const [block, ...rest] = bare(parseMarkdown("```js\nlet a = 1;\n\n# no heading\n- no list"));
  assert.deepEqual(block, { type: "code", text: "let a = 1;\n\n# no heading\n- no list", info: "js", isOpen: true });
  assert.deepEqual(rest, []);
  assert.equal(bare(parseMarkdown("````\n```\n````"))[0].text, "```");
  assert.equal(bare(parseMarkdown("~~~\na\n~~~"))[0].isOpen, false);
});

test("quotes, with and without a mark on each line", () => {
  const [quote, after] = bare(parseMarkdown("> a\nb\n> - c\n\nd"));
  assert.equal(quote.blocks.length, 2);
  assert.equal(wordsOf(quote.blocks[0].inline), "a\nb");
  assert.equal(after.type, "paragraph");
});

test("tables", () => {
  const [before, table] = bare(parseMarkdown("Here:\n| a | b \\| c |\n|---|:-:|\n| 1 | **2** | 3 |\n| 4 |\n\nend"));
  assert.equal(before.type, "paragraph");
  assert.deepEqual(table.head.map(wordsOf), ["a", "b | c"]);
  assert.deepEqual(table.rows.map((/** @type {any} */ row) => row.map(wordsOf)), [["1", "2"], ["4", ""]]);
});

test("links that are harmless", () => {
  for (const to of ["https://example.org/a_(b)?c=d&e#f", "HTTP://example.org", "mailto:a@example.org", "#/inbox/7F3K"]) {
    assert.deepEqual(parseInline(`[x](${to})`), [{ type: "link", to, children: [text("x")] }], to);
  }
  assert.deepEqual(links(parseInline('[a](<https://example.org/b> "title") [c](https://example.org/d \'e\')')), ["https://example.org/b", "https://example.org/d"]);
  assert.deepEqual(parseInline("[**a** b](https://c.example)"), [{ type: "link", to: "https://c.example", children: [{ type: "strong", children: [text("a")] }, text(" b")] }]);
});

test("links that are not, in many spellings", () => {
  const bad = ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\tscript:alert(1)", "java\nscript:alert(1)", " javascript:alert(1)", "\u0001javascript:alert(1)",
    "javascript&#58;alert(1)", "javascript&#x3A;alert(1)", "&#106;avascript:alert(1)", "javascript\\:alert(1)", "data:text/html,<script>alert(1)</script>",
    "vbscript:x", "file:///etc/passwd", "//evil.example", "/\\evil.example", "\\\\evil.example", "https:\\\\evil.example", "blob:https://a", "intent://a", "ftp://a", "#", "#javascript:x",
    "?x", "/api/freeze", "https://a\u200bb.example", "view-source:https://a", "https:example.org", "http:/example.org", "x:https://a"];
  for (const to of bad) {
    // An address of the web that stands in the text is a link by itself, whatever is before it.
    const more = to.includes("https://") ? [] : [`<${to}>`, `[x](${encodeURI(to)})`];
    for (const source of [`[x](${to})`, `[x](<${to}>)`, ...more]) {
      for (const found of links(parseMarkdown(source))) assert.fail(`${JSON.stringify(source)} leads to ${found}`);
    }
    assert.equal(isHarmless(to), false, to);
  }
});

test("the words of a link that leads nowhere stay", () => {
  assert.equal(wordsOf(parseInline("[press *here*](javascript:alert(1)) now")), "press here now");
});

test("no link within a link", () => {
  const tree = parseInline("[a [b](https://b.example) c](mailto:c@example.org)");
  assert.deepEqual(links(tree), ["https://b.example"]);
  assert.equal(wordsOf(tree), "[a b c](mailto:c@example.org)");
  assert.deepEqual(parseInline("[see https://a.example now](https://b.example)"), [{ type: "link", to: "https://b.example", children: [text("see https://a.example now")] }]);
  for (const words of ["<https://a.example>", "https://a.example", "**https://a.example**"]) assert.deepEqual(links(parseInline(`[${words}](https://b.example)`)), ["https://b.example"], words);
});

test("addresses in the text", () => {
  assert.deepEqual(links(parseInline("see https://example.org/a, (https://example.org/b_(c)) and <a@example.org>.")), ["https://example.org/a", "https://example.org/b_(c)", "mailto:a@example.org"]);
  assert.deepEqual(links(parseInline("xhttps://example.org `https://code.example` www.example.org http://")), []);
  assert.equal(wordsOf(parseInline("go to https://example.org.")), "go to https://example.org.");
});

test("images are words", () => {
  assert.deepEqual(parseInline("![a *b*](https://track.example/x.png)"), [{ type: "image", alt: "a b" }]);
  assert.deepEqual(links(parseInline("![a](https://track.example/x.png)")), []);
  assert.deepEqual(parseInline("[![a](https://i.example)](https://l.example)"), [{ type: "link", to: "https://l.example", children: [{ type: "image", alt: "a" }] }]);
});

test("HTML is text", () => {
  const source = '<img src=x onerror=alert(1)><script>alert(1)</script>\n\n<div onclick="x">&lt;b&gt; &amp; &#x202e;&unknown;</div>';
  const said = bare(parseMarkdown(source)).map((block) => wordsOf(block.inline)).join("\n");
  assert.match(said, /^<img src=x onerror=alert\(1\)><script>/);
  assert.match(said, /<b> & \ufffd&unknown;/);
});

test("nothing turns the reading order around", () => {
  assert.equal(cleanMarkdown("a\u202eb\u2066c\r\n"), "abc\n");
  assert.doesNotMatch(JSON.stringify(parseMarkdown("`\u202e`\n\n```\n\u2067x\n```")), /[\u202a-\u202e\u2066-\u2069]/);
});

test("a text that grows letter by letter ends as the whole text does", () => {
  const source = "Look:\n- one\n- two **bold**\n  1. three\n\ntext\n---\nmore\n***\nand *this*\n\n| a | b |\n|---|---|\n| 1 | 2 |\nend | x\n\n```sh\nls -l\n\n# x\n```\n> quote\nlazy\n\n1. a\n\n   b\n2. c\n\nlast `code` [l](https://e.example)\nx | y\n--|--x\n-";
  const settled = [];
  let from = 0;
  for (let end = 1; end <= source.length; end += 1) {
    const tail = source.slice(from, end);
    const blocks = parseMarkdown(tail);
    const count = settledBlocks(blocks, tail);
    settled.push(...bare(blocks.slice(0, count)));
    if (count > 0) from += blocks[count]?.from ?? 0;
  }
  settled.push(...bare(parseMarkdown(source.slice(from))));
  assert.deepEqual(settled, bare(parseMarkdown(source)));
});

test("deep nesting is cut, not followed", () => {
  const marks = "*a **b ".repeat(5000) + "** *".repeat(5000);
  const quotes = `${"> ".repeat(5000)}x`;
  const items = Array.from({ length: 500 }, (_, depth) => `${"  ".repeat(depth)}- x`).join("\n");
  for (const source of [marks, quotes, items, "*".repeat(50000) + "a" + "*".repeat(50000)]) JSON.stringify(parseMarkdown(source));
});

test("200 KB of anything is read in bounded time", () => {
  const fill = (/** @type {string} */ piece) => piece.repeat(Math.ceil(SIZE / piece.length));
  const pieces = ["a", "a ", "*", "*a ", "*a**b_c~~", "_a*", "`", "` ``  ", "[", "![", "[](", "[a](b", "[a](<", "![a](", "]", "](x)", "[a](https://b.c) ", "![[a](https://b.c)", "<", "<a@", "&", "&#", "\\", "> ", "- ", "- a\n", "1. a\n\n", "  - a\n",
    "#", "# ", "# #", "|", "a|b\n", "|-", "| - ", "-\t", "- -\n", "```\n", "~~~ ", "http://", "http://!", "https://a.example/( ", "h", " ", "\t", "\n", "a  \n", "*`a` ", "**a** b\n", "    x\n", "a@b.c ", "\u202e", "((((", "![a](b) ", "'\"", "😀*"];
  for (const piece of pieces) {
    const some = fill(piece).slice(0, SIZE / 4);
    for (const source of [fill(piece), `# x${some}x`, `a|b\n-|-\n${some}`, `- ${some}`]) {
      const start = process.cpuUsage();
      parseMarkdown(source);
      const took = process.cpuUsage(start).user / 1000;
      assert.ok(took < BOUND_MS, `${JSON.stringify(source.slice(0, 24))}… took ${Math.round(took)} ms`);
    }
  }
});
