'use strict';
// The program as a graph of boxes in boxes. Only what is open is laid out and drawn, so a program of
// 50,000 ops opens at once. D holds the program (see preflight_page.c for its fields).
const S = D.strings, OPS = D.ops, SCOPES = D.scopes, RESHARDS = D.reshards;
const W = 0, NAME = 1, TYPE = 2, SHARD = 3, SCOPE = 4, BLOCK = 5, RESHARD = 6, PLACE = 7, TIMES = 8,
      MOVED = 9, FLOPS = 10, CALLEE = 11, TRIPS = 12, INPUTS = 13;
const SVG = 'http://www.w3.org/2000/svg';
const bytes = n => {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
  let unit = 0;
  while (n >= 999.5 && unit < 6) { n /= 1000; unit++; }
  return (unit && n < 99.95 ? n.toFixed(1) : n.toFixed(0)) + ' ' + units[unit];
};
const count = n => n >= 9e18 ? 'many' : n.toLocaleString('en');
const esc = t => t.replace(/[&<>]/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;'})[c]);

// ---- what lies in what ----

const inBlock = new Map();  // owner op -> its ops
OPS.forEach((op, i) => {
  if (op[BLOCK] < 0) return;
  if (!inBlock.has(op[BLOCK])) inBlock.set(op[BLOCK], []);
  inBlock.get(op[BLOCK]).push(i);
});
const quiet = new Set(['constant', 'iota', 'return', 'func']);
const strong = new Set(['dot_general', 'dot', 'convolution', 'while', 'call', 'case', 'if', 'custom_call',
  'manual_computation', 'scatter', 'gather', 'sort', 'reduce', 'reduce_window', 'fft', 'all_reduce', 'ragged_dot']);
const isHot = i => OPS[i][RESHARD] >= 0;
const groupOf = i => OPS[i][RESHARD] >= 0 ? RESHARDS[OPS[i][RESHARD]].group : -1;
const word = i => S[OPS[i][W]];
const hidden = i => quiet.has(word(i));
// Bytes moved and FLOPs of an op and all inside it, in all its runs.
const totals = new Map();
function total(i) {
  if (totals.has(i)) return totals.get(i);
  const op = OPS[i], own = {moved: op[MOVED] * op[TIMES], flops: op[FLOPS] * op[TIMES], ops: 1, hot: op[MOVED] > 0 ? 1 : 0};
  totals.set(i, own);
  for (const k of inBlock.get(i) || []) add(own, total(k), 1);
  if (op[CALLEE] >= 0) {
    const callee = total(op[CALLEE]), runs = OPS[op[CALLEE]][TIMES];
    add(own, callee, runs > 0 ? op[TIMES] / runs : 0);
  }
  return own;
}
function add(to, from, share) {
  to.moved += from.moved * share;
  to.flops += from.flops * share;
  to.ops += from.ops;
  to.hot += from.hot;
}
const ALL = total(D.entry);

// ---- nodes: instances of ops and folders ----

const folderName = s => S[SCOPES[s][0]].replace(/\.?<locals>\./g, '.').replace(/^_\./, '');
const plural = (n, what) => count(n) + ' ' + what + (n === 1 ? '' : 's');
let nodes = 0;
function makeNode(kind, id, block, parent) {
  return {key: nodes++, kind, id, block, parent, open: false, kids: null, sum: null};
}
// The block whose ops a node shows inside: of a call that of the function.
const inside = n => n.kind === 'op' ? (OPS[n.id][CALLEE] >= 0 ? OPS[n.id][CALLEE] : n.id) : n.block;
const canOpen = n => n.kind === 'scope' || n.kind === 'root' ||
  (n.kind === 'op' && !isHot(n.id) && (inBlock.get(inside(n)) || []).some(i => !hidden(i)));
function kidsOf(n) {
  if (n.kids) return n.kids;
  const block = n.kind === 'root' ? n.id : inside(n), scope = n.kind === 'scope' ? n.id : -1;
  const own = instance(n);
  n.kids = [];
  for (const i of own.direct.get(scope) || []) {
    const kid = makeNode('op', i, block, n);
    n.kids.push(kid);
    own.nodeOf.set(i, kid);
  }
  for (const s of own.folders.get(scope) || []) {
    let at = s;  // a folder with one folder and nothing else is that one
    const names = [folderName(s)];
    while (!(own.direct.get(at) || []).length && (own.folders.get(at) || []).length === 1) {
      at = own.folders.get(at)[0];
      names.push(folderName(at));
    }
    const kid = makeNode('scope', at, block, n);
    kid.title = names.length > 2 ? names[0] + ' / … / ' + names[names.length - 1] : names.join(' / ');
    kid.path = names.join(' / ');
    for (let up = at; up !== s; up = SCOPES[up][1]) own.scopeNode.set(up, kid);
    own.scopeNode.set(s, kid);
    n.kids.push(kid);
  }
  return n.kids;
}
// One showing of a block: the root, an open loop, an open call.
function instance(n) {
  let at = n;
  while (at.kind === 'scope') at = at.parent;
  if (at.inst) return at.inst;
  const block = at.kind === 'root' ? at.id : inside(at);
  const inst = {owner: at, block, direct: new Map(), folders: new Map(), nodeOf: new Map(), scopeNode: new Map(),
    sums: new Map(), first: new Map()};
  const push = (map, key, value) => map.has(key) ? map.get(key).push(value) : map.set(key, [value]);
  const seen = new Set();
  for (const i of inBlock.get(block) || []) {
    const op = OPS[i];
    let s = op[SCOPE];
    for (let up = s; up >= 0; up = SCOPES[up][1]) {
      if (!inst.sums.has(up)) inst.sums.set(up, {moved: 0, flops: 0, ops: 0, hot: 0});
      add(inst.sums.get(up), total(i), 1);
      if (!inst.first.has(up)) inst.first.set(up, i);
    }
    if (hidden(i)) continue;
    push(inst.direct, s, i);
    for (; s >= 0 && !seen.has(s); s = SCOPES[s][1]) {
      seen.add(s);
      push(inst.folders, SCOPES[s][1], s);
    }
  }
  return at.inst = inst;
}
const sumOf = n => n.kind === 'scope' ? instance(n).sums.get(n.id) : total(n.kind === 'root' ? D.entry : n.id);
const orderOf = n => n.kind === 'scope' ? instance(n).first.get(n.id) : n.kind === 'arg' ? n.order : n.id;

// The node that stands for an op of an instance in what is drawn now.
function shown(inst, i) {
  let chain = [];
  for (let s = OPS[i][SCOPE]; s >= 0; s = SCOPES[s][1]) chain.push(s);
  let at = inst.owner;
  if (!at.open) return at;
  kidsOf(at);
  for (let k = chain.length - 1; k >= 0; k--) {
    const folder = inst.scopeNode.get(chain[k]);
    if (!folder) return at;
    if (folder === at) continue;
    at = folder;
    if (!at.open) return at;
    kidsOf(at);
  }
  return inst.nodeOf.get(i) || at;
}

// ---- colours ----

const dark = matchMedia('(prefers-color-scheme: dark)').matches;
const hues = dark ? ['#6ea8fe', '#4ade80', '#c084fc', '#fbbf24', '#22d3ee', '#a3e635', '#f472b6', '#818cf8', '#2dd4bf', '#eab308']
                  : ['#2f6fed', '#0f9d58', '#8b3fd9', '#d98a00', '#0891b2', '#65a30d', '#db2777', '#4f46e5', '#0d9488', '#a16207'];
const axesOf = D.shardings.map(s => s[1]);
const kinds = [...new Set(axesOf)].filter(Boolean).sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
const colorOf = s => s < 0 || !axesOf[s] ? 'var(--edge)' : hues[kinds.indexOf(axesOf[s]) % hues.length];

// ---- layout: ranks by the longest way, order by the middle of neighbours ----

const GAP_X = 26, GAP_Y = 34, PAD = 16, HEAD = 30;
function textWidth(text, size) { return text.length * size * 0.56; }
function measure(n) {
  if (n.kind === 'arg') {
    n.t1 = n.label.length > 30 ? '…' + n.label.slice(-29) : n.label;
    n.w = Math.max(60, textWidth(n.t1, 11) + 18);
    n.h = 22;
    return;
  }
  const sum = sumOf(n);
  if (n.kind === 'op') {
    const op = OPS[n.id], hot = isHot(n.id);
    n.t1 = clip(op[CALLEE] >= 0 ? 'call ' + S[OPS[op[CALLEE]][NAME]] : word(n.id).replace(/_/g, hot ? '-' : '_'), 34);
    n.t2 = hot ? (op[MOVED] ? bytes(op[MOVED]) + (op[TIMES] > 1 ? ' × ' + count(op[TIMES]) : '') : 'moves nothing')
               : clip(S[op[TYPE]], 34);
    n.minor = !op[MOVED] && !strong.has(word(n.id));
  } else {
    n.t1 = clip(n.title || S[OPS[n.id][NAME]], 40);
    n.t2 = plural(sum.ops, 'op');
  }
  if (canOpen(n)) n.t2 = plural(sum.ops, 'op') + (n.kind === 'op' && word(n.id) === 'while' ? ', ' + n_steps(n.id) : '');
  n.t3 = canOpen(n) && sum.moved ? '⇄ ' + bytes(sum.moved) : '';
  n.w = Math.max(90, textWidth(n.t1, 12.5) + 24, textWidth(n.t2 + '   ' + n.t3, 10.5) + 24);
  n.h = n.minor ? 34 : 44;
}
const n_steps = i => OPS[i][TRIPS] < 0 ? 'unknown steps' : count(OPS[i][TRIPS]) + ' steps';
const clip = (t, most) => t.length > most ? t.slice(0, most - 1) + '…' : t;

function layout(n) {
  const kids = kidsOf(n), items = [];
  for (const kid of kids) {
    if (kid.open) layout(kid); else measure(kid);
    items.push(kid);
  }
  n.args = argumentsOf(n);
  for (const arg of n.args) { measure(arg); items.push(arg); }
  const links = n.links = linksOf(n, items);
  place(n, items, links);
}
// Weights and inputs that ops right inside a folder use.
function argumentsOf(n) {
  const found = new Map();
  if (n.kind === 'root' && !n.open) return [];
  for (const kid of kidsOf(n)) {
    if (kid.kind !== 'op') continue;
    for (let k = INPUTS; k < OPS[kid.id].length; k += 3) {
      const from = OPS[kid.id][k];
      if (from >= 0 || from === -1) continue;
      const label = S[-from - 2];
      if (!found.has(label)) found.set(label, {kind: 'arg', key: nodes++, label, order: kid.id - 0.5, parent: n, to: []});
      found.get(label).to.push([kid, OPS[kid.id][k + 1], OPS[kid.id][k + 2]]);
    }
  }
  return [...found.values()];
}
function linksOf(n, items) {
  const inst = instance(n), mine = new Set(items), links = new Map();
  const up = at => { while (at && !mine.has(at)) at = at.parent; return at; };
  const scope = n.kind === 'scope' ? n.id : -1;
  const note = (a, b, from, to, shard, size) => {
    const key = from.key + '>' + to.key;
    if (!links.has(key)) links.set(key, {a, b, from, to, parts: new Map(), size: 0});
    const link = links.get(key);
    link.parts.set(shard, (link.parts.get(shard) || 0) + size);
    link.size += size;
  };
  const block = n.kind === 'root' ? n.id : inside(n);
  for (const i of inBlock.get(block) || []) {
    if (scope >= 0 && !within(OPS[i][SCOPE], scope)) continue;
    const to = shown(inst, i), b = up(to);
    if (!b) continue;
    const op = OPS[i];
    for (let k = INPUTS; k < op.length; k += 3) {
      const src = op[k];
      if (src < 0 || OPS[src][BLOCK] !== block || hidden(src)) continue;
      if (scope >= 0 && !within(OPS[src][SCOPE], scope)) continue;
      const from = shown(inst, src), a = up(from);
      if (a && a !== b) note(a, b, from, to, op[k + 1], op[k + 2]);
    }
  }
  for (const arg of n.args) for (const [kid, shard, size] of arg.to) note(arg, kid, arg, kid, shard, size);
  return [...links.values()];
}
function within(scope, wanted) {
  for (; scope >= 0; scope = SCOPES[scope][1]) if (scope === wanted) return true;
  return false;
}
function place(n, items, links) {
  items.sort((a, b) => orderOf(a) - orderOf(b));
  const all = items.slice(), at = new Map(items.map((item, i) => [item, i]));
  const outs = items.map(() => []), ins = items.map(() => []), rank = items.map(() => 0);
  const join = (a, b) => { outs[a].push(b); ins[b].push(a); };
  const ahead = [];
  for (const link of links) {
    link.way = [];
    link.back = at.get(link.a) > at.get(link.b);
    if (!link.back) ahead.push([at.get(link.a), at.get(link.b), link]);
  }
  const next = items.map(() => []), before = items.map(() => 0);
  for (const [a, b] of ahead) { next[a].push(b); before[b]++; }
  items.forEach((_, i) => { for (const k of next[i]) rank[k] = Math.max(rank[k], rank[i] + 1); });
  // What nothing feeds stands right before its first use.
  for (let i = items.length - 1; i >= 0; i--)
    if (!before[i] && next[i].length) rank[i] = Math.max(0, Math.min(...next[i].map(k => rank[k])) - 1);
  // Boxes that touch nothing are put in rows instead of one line.
  const loose = items.map((_, i) => i).filter(i => !before[i] && !next[i].length);
  const deepest = rank.reduce((a, b) => Math.max(a, b), 0), across = Math.max(4, Math.ceil(Math.sqrt(loose.length)));
  if (items.length > 1) loose.forEach((i, k) => { rank[i] = (loose.length === items.length ? 0 : deepest + 1) + Math.floor(k / across); });
  // A line past other boxes gets a lane in each row; all lines of one box share it.
  const lanes = new Map();
  for (const [a, b, link] of ahead) {
    let last = a;
    for (let r = rank[a] + 1; r < rank[b]; r++) {
      const key = a + ':' + r;
      if (!lanes.has(key)) {
        if (all.length > 6000) { last = -1; break; }
        lanes.set(key, all.length);
        all.push({lane: true, w: 6, h: 0});
        rank.push(r);
        outs.push([]);
        ins.push([]);
        join(last, lanes.get(key));
      }
      last = lanes.get(key);
      link.way.push(all[last]);
    }
    if (last >= 0) join(last, b); else link.way = [];
  }
  const rows = [];
  rank.forEach((r, i) => (rows[r] = rows[r] || []).push(i));
  const ranks = rows.filter(Boolean), middle = all.map(() => 0);
  const gap = (i, k) => all[i].lane && all[k].lane ? 7 : all[i].lane || all[k].lane ? 14 : GAP_X;
  const settle = (row, want) => {
    let x = -Infinity, error = 0;
    row.forEach((i, k) => {
      if (k) x += gap(row[k - 1], i);
      all[i].x = Math.max(want(i) - all[i].w / 2, x);
      x = all[i].x + all[i].w;
      error += want(i) - all[i].w / 2 - all[i].x;
    });
    for (const i of row) { all[i].x += error / row.length; middle[i] = all[i].x + all[i].w / 2; }
  };
  for (const row of ranks) settle(row, () => 0);
  for (let sweep = 0; sweep < 10; sweep++) {
    const down = sweep % 2 === 0;
    for (const row of down ? ranks : [...ranks].reverse()) {
      const want = new Map(row.map(i => {
        const near = down ? ins[i] : outs[i];
        return [i, near.length ? near.reduce((s, k) => s + middle[k], 0) / near.length : middle[i]];
      }));
      if (sweep < 8) row.sort((a, b) => want.get(a) - want.get(b) || a - b);
      settle(row, i => want.get(i));
    }
  }
  let y = HEAD + PAD, left = Infinity, right = -Infinity;
  for (const row of ranks) {
    const height = Math.max(...row.map(i => all[i].h));
    for (const i of row) {
      all[i].y = all[i].lane ? y : y + (height - all[i].h) / 2;
      if (all[i].lane) all[i].h = height;
      left = Math.min(left, all[i].x);
      right = Math.max(right, all[i].x + all[i].w);
    }
    y += height + GAP_Y + Math.min(30, row.length * 2);
  }
  const label = textWidth(titleOf(n), 12.5) + 30;
  const spare = Math.max(0, label - (right - left)) / 2;
  for (const item of all) item.x += PAD + spare - left;
  n.w = (items.length ? right - left + 2 * spare : 120) + 2 * PAD;
  n.h = Math.max(y - GAP_Y + PAD - 6, HEAD + 2 * PAD);
}

// ---- drawing ----

const svg = document.querySelector('#view svg'), world = svg.querySelector('g');
const tip = document.getElementById('tip');
const root = makeNode('root', D.entry, D.entry, null);
root.title = S[OPS[D.entry][NAME]];
root.open = true;
let marked = -1, found = '';
const make = (name, attrs, into) => {
  const e = document.createElementNS(SVG, name);
  for (const k in attrs) e.setAttribute(k, attrs[k]);
  if (into) into.appendChild(e);
  return e;
};
function drawNode(n, into, x, y) {
  n.ax = x; n.ay = y;
  const hot = n.kind === 'op' && isHot(n.id) && OPS[n.id][MOVED] > 0;
  const names = ['n'];
  if (n.kind === 'arg') names.push('arg');
  else if (n.open) names.push('g', 'open');
  else if (canOpen(n)) names.push('g');
  if (hot) names.push('hot');
  if (n.minor) names.push('minor');
  if (hot && groupOf(n.id) === marked) names.push('on');
  if (found && matches(n)) names.push('hit');
  const g = make('g', {class: names.join(' ')}, into);
  make('rect', {class: 'b', x, y, width: n.w, height: n.h, rx: n.kind === 'arg' ? 11 : 7}, g);
  g.addEventListener('mousemove', e => { e.stopPropagation(); showTip(tipOf(n), e); });
  g.addEventListener('mouseenter', () => { if (!n.open) setFocus(n); });
  g.addEventListener('mouseleave', () => { tip.style.display = 'none'; setFocus(null); });
  if (n.kind === 'arg') {
    text(g, n.t1, x + n.w / 2, y + 15, 't2', 'middle');
    return;
  }
  if (canOpen(n)) g.addEventListener('click', e => {
    if (moved) return;
    e.stopPropagation();
    if (n === root) return;
    toggle(n);
  });
  else g.addEventListener('click', e => {
    e.stopPropagation();
    if (hot && !moved) select(groupOf(n.id), false);
  });
  const sum = sumOf(n);
  if (n.open) {
    text(g, (n === root ? '' : '− ') + titleOf(n), x + PAD, y + 21, 't1');
    drawInside(n, into, x, y);
    return;
  }
  text(g, (canOpen(n) ? '+ ' : '') + n.t1, x + 12, y + (n.minor ? 15 : 19), n.minor ? 't2' : 't1');
  text(g, n.t2, x + 12, y + (n.minor ? 28 : 34), 't2' + (hot ? ' red' : ''));
  if (n.t3) text(g, n.t3, x + n.w - 12, y + 34, 't2 red', 'end');
  if (canOpen(n) && ALL.moved && sum.moved) {
    const share = Math.min(1, sum.moved / ALL.moved);
    make('rect', {x: x + 1, y: y + n.h - 3.5, width: Math.max(2, (n.w - 2) * share), height: 3, rx: 1.5, fill: 'var(--red)'}, g);
  }
}
function text(into, what, x, y, kind, anchor) {
  const t = make('text', {x, y, class: kind}, into);
  if (anchor) t.setAttribute('text-anchor', anchor);
  t.textContent = what;
}
function drawInside(n, into, x, y) {
  const under = make('g', {}, into);
  for (const kid of [...kidsOf(n), ...n.args]) drawNode(kid, into, x + kid.x, y + kid.y);
  const boxes = new Map();
  for (const link of n.links) {
    const key = link.a.key + '>' + link.b.key;
    if (!boxes.has(key)) boxes.set(key, {...link, from: link.a, to: link.b, parts: new Map(), size: 0});
    const sum = boxes.get(key);
    for (const [shard, size] of link.parts) sum.parts.set(shard, (sum.parts.get(shard) || 0) + size);
    sum.size += link.size;
  }
  for (const link of boxes.values()) if (!link.back) drawLink(link, under, pathOf(link, x, y));
}
function pathOf(link, x, y) {
  const a = link.from, b = link.to;
  let px = a.ax + a.w / 2, py = a.ay + a.h, d = `M${px},${py}`;
  const curve = (qx, qy) => {
    const bend = Math.max(8, Math.min(60, Math.abs(qy - py) * 0.55));
    d += `C${px},${py + bend} ${qx},${qy - bend} ${qx},${qy}`;
    px = qx;
    py = qy;
  };
  for (const lane of link.way) {
    curve(x + lane.x + lane.w / 2, y + lane.y);
    py = y + lane.y + lane.h;
    d += `L${px},${py}`;
  }
  curve(b.ax + b.w / 2, b.ay);
  return d;
}
// From box to box, whatever lies between: shown while the pointer is on one of them.
function straight(link) {
  const a = link.from, b = link.to, x1 = a.ax + a.w / 2, x2 = b.ax + b.w / 2;
  if (b.ay > a.ay + a.h) {
    const y1 = a.ay + a.h, y2 = b.ay, bend = Math.max(18, Math.min(120, (y2 - y1) / 2));
    return `M${x1},${y1}C${x1},${y1 + bend} ${x2},${y2 - bend} ${x2},${y2}`;
  }
  const y1 = a.ay + a.h / 2, y2 = b.ay + b.h / 2, out = Math.max(a.ax + a.w, b.ax + b.w) + 50;
  return `M${a.ax + a.w},${y1}C${out},${y1} ${out},${y2} ${b.ax + b.w},${y2}`;
}
function drawLink(link, into, d) {
  let best = -1, most = -1;
  for (const [shard, size] of link.parts) if (size > most) { most = size; best = shard; }
  const hot = [link.from, link.to].some(n => n.kind === 'op' && isHot(n.id) && OPS[n.id][MOVED] > 0);
  const path = make('path', {class: 'e', d, stroke: hot ? 'var(--red)' : colorOf(best)}, into);
  path.style.strokeWidth = Math.min(5, 1.2 + Math.log10(1 + link.size / 1e3) * 0.5);
  path.addEventListener('mousemove', e => { e.stopPropagation(); showTip(tipOfLink(link), e); });
  path.addEventListener('mouseleave', () => { tip.style.display = 'none'; });
  return path;
}
let focus = null;
function setFocus(n) {
  if (focus) focus.remove();
  focus = n && n !== root ? make('g', {class: 'focus'}, world) : null;
  for (let at = n && n.parent; focus && at; at = at.parent)
    for (const link of at.links || [])
      if ((link.from === n || link.to === n) && (link.back || link.from !== link.a || link.to !== link.b))
        drawLink(link, focus, straight(link));
}
function titleOf(n) {
  const sum = sumOf(n);
  const name = n.kind === 'op' ? (OPS[n.id][CALLEE] >= 0 ? 'call ' + S[OPS[OPS[n.id][CALLEE]][NAME]]
    : word(n.id) + (word(n.id) === 'while' ? ', ' + n_steps(n.id) : '')) : n.title;
  return name + (sum.moved ? '   ⇄ ' + bytes(sum.moved) : '');
}
function redraw() {
  world.replaceChildren();
  focus = null;
  layout(root);
  drawNode(root, world, 0, 0);
}

// ---- tips ----

function showTip(html, e) {
  if (moved) return;
  tip.innerHTML = html;
  tip.style.display = 'block';
  const box = document.getElementById('view').getBoundingClientRect();
  const x = e.clientX - box.left, y = e.clientY - box.top;
  tip.style.left = Math.min(x + 14, box.width - tip.offsetWidth - 8) + 'px';
  tip.style.top = (y + 18 + tip.offsetHeight > box.height ? y - tip.offsetHeight - 12 : y + 18) + 'px';
}
const shardText = s => s < 0 ? 'whole' : D.shardings[s][0];
function tipOf(n) {
  if (n.kind === 'arg') return `<b>${esc(n.label)}</b><p class="m">${esc(shardText(n.to[0][1]))}</p><p class="w">${bytes(n.to[0][2])} on a device</p>`;
  const sum = sumOf(n), lines = [];
  if (n.kind === 'op') {
    const op = OPS[n.id];
    lines.push(`<b>${esc(word(n.id))}</b> <span class="m">${esc(S[op[NAME]])}</span>`);
    if (S[op[TYPE]]) lines.push(`<p class="m">${esc(S[op[TYPE]])}  ${esc(shardText(op[SHARD]))}</p>`);
    if (S[op[PLACE]]) lines.push(`<p class="w">${esc(S[op[PLACE]])}</p>`);
    if (op[TIMES] > 1) lines.push(`<p class="w">runs ${count(op[TIMES])} times</p>`);
    if (isHot(n.id)) {
      const r = RESHARDS[op[RESHARD]];
      if (op[MOVED]) lines.push(`<p><b style="color:var(--red)">${bytes(op[MOVED] * op[TIMES])}</b> moved on each device</p>`);
      if (r) lines.push(`<p>${esc(r.cause)}</p>` + (r.suggestion ? `<p class="w">try: ${esc(r.suggestion)}</p>` : ''));
    }
  } else {
    lines.push(`<b>${esc(n.path || n.title)}</b>`);
  }
  if (canOpen(n)) {
    lines.push(`<p>${plural(sum.ops, 'op')}, ${plural(sum.hot, 'collective')}, ${bytes(sum.moved)} moved` +
      (ALL.flops ? `, ${(100 * sum.flops / ALL.flops).toFixed(0)} % of the FLOPs` : '') + '</p>');
    if (n !== root) lines.push(`<p class="w">click to ${n.open ? 'fold' : 'open'}</p>`);
  }
  return lines.join('');
}
function tipOfLink(link) {
  const parts = [...link.parts].sort((a, b) => b[1] - a[1]).slice(0, 6);
  return `<b>${bytes(link.size)} on a device</b>` + parts.map(([s, size]) =>
    `<p class="m"><span style="color:${colorOf(s)}">■</span> ${esc(shardText(s))}  ${bytes(size)}</p>`).join('');
}

// ---- moving about ----

let view = {x: 0, y: 0, k: 1}, moved = false;
const apply = () => world.setAttribute('transform', `translate(${view.x},${view.y}) scale(${view.k})`);
function fit(n, most) {
  const box = svg.getBoundingClientRect();
  view.k = Math.max(0.03, Math.min(most || 1.1, (box.width - 60) / n.w, (box.height - 100) / n.h));
  let middle = n.ax + n.w / 2;
  // A graph that is too tall to read whole is shown from its top, at the boxes that stand there.
  if (!most && view.k < 0.6) {
    const top = kidsOf(n).filter(k => k.y < HEAD + PAD + 400);
    view.k = Math.max(0.6, Math.min(0.85, (box.width - 60) / n.w));
    if (n.w * view.k > box.width - 40 && top.length)
      middle = top.reduce((s, k) => s + k.ax + k.w / 2, 0) / top.length;
  }
  view.x = box.width / 2 - middle * view.k;
  view.y = n.h * view.k > box.height - 100 ? 60 - n.ay * view.k : box.height / 2 + 20 - (n.ay + n.h / 2) * view.k;
  apply();
}
function center(n) {
  const box = svg.getBoundingClientRect();
  view.k = Math.max(view.k, 0.9);
  view.x = box.width / 2 - (n.ax + n.w / 2) * view.k;
  view.y = box.height / 2 - (n.ay + n.h / 2) * view.k;
  apply();
}
// Opens or folds a box so that it stays under the pointer.
function toggle(n) {
  const x = n.ax * view.k + view.x, y = n.ay * view.k + view.y;
  n.open = !n.open;
  redraw();
  view.x = x - n.ax * view.k;
  view.y = y - n.ay * view.k;
  apply();
  tip.style.display = 'none';
}
svg.addEventListener('wheel', e => {
  e.preventDefault();
  const box = svg.getBoundingClientRect(), f = Math.exp(-e.deltaY * 0.0015);
  const x = e.clientX - box.left, y = e.clientY - box.top, k = Math.min(4, Math.max(0.03, view.k * f));
  view.x = x - (x - view.x) * k / view.k;
  view.y = y - (y - view.y) * k / view.k;
  view.k = k;
  apply();
}, {passive: false});
svg.addEventListener('pointerdown', e => {
  const start = {x: e.clientX - view.x, y: e.clientY - view.y, cx: e.clientX, cy: e.clientY};
  moved = false;
  const go = m => {
    if (!moved && Math.hypot(m.clientX - start.cx, m.clientY - start.cy) < 4) return;
    moved = true;
    svg.classList.add('drag');
    tip.style.display = 'none';
    view.x = m.clientX - start.x;
    view.y = m.clientY - start.y;
    apply();
  };
  const end = () => {
    removeEventListener('pointermove', go);
    removeEventListener('pointerup', end);
    svg.classList.remove('drag');
    setTimeout(() => { moved = false; }, 0);
  };
  addEventListener('pointermove', go);
  addEventListener('pointerup', end);
});

// ---- from the lists to the graph ----

// Opens all that stands around an op, through the calls that lead to its function.
function reveal(i) {
  const ways = [];
  for (let at = i; at >= 0;) {
    ways.push(at);
    let up = OPS[at][BLOCK];
    if (up >= 0 && OPS[up][BLOCK] < 0 && up !== D.entry) up = OPS.findIndex(op => op[CALLEE] === OPS[at][BLOCK]);
    if (up === D.entry || up < 0) break;
    at = up;
  }
  let host = root, node = null;
  for (const op of ways.reverse()) {
    const inst = instance(host);
    host.open = true;
    kidsOf(host);
    const chain = [];
    for (let s = OPS[op][SCOPE]; s >= 0; s = SCOPES[s][1]) chain.push(s);
    for (const s of chain.reverse()) {
      const folder = inst.scopeNode.get(s);
      if (folder) { folder.open = true; kidsOf(folder); }
    }
    node = host = inst.nodeOf.get(op) || host;
  }
  return node;
}
function select(r, move) {
  marked = r;
  document.querySelectorAll('.row').forEach(row => row.classList.toggle('on', +row.dataset.r === r));
  const node = move ? reveal(D.groups[r]) : null;
  redraw();
  if (node) center(node); else apply();
  const row = document.querySelector(`.row[data-r="${r}"]`);
  if (row && !move) row.scrollIntoView({block: 'center', behavior: 'smooth'});
}
document.querySelectorAll('.row').forEach(row => row.addEventListener('click', () => select(+row.dataset.r, true)));
function matches(n) {
  const what = n.kind === 'arg' ? n.label : n.kind === 'op' ? [word(n.id), S[OPS[n.id][NAME]], S[OPS[n.id][PLACE]], n.t1].join(' ')
    : (n.path || n.title || '');
  return what.toLowerCase().includes(found);
}
const box = document.getElementById('find'), note = document.getElementById('note');
box.addEventListener('change', () => {
  found = box.value.trim().toLowerCase();
  note.textContent = '';
  if (found) {
    const hits = [];
    OPS.forEach((op, i) => {
      if (!hidden(i) && [word(i), S[op[NAME]], S[op[PLACE]]].join(' ').toLowerCase().includes(found)) hits.push(i);
    });
    note.textContent = plural(hits.length, 'op');
    if (hits.length) {
      const node = reveal(hits[0]);
      redraw();
      return center(node);
    }
  }
  redraw();
});
function fold(n) {
  for (const kid of n.kids || []) { kid.open = false; fold(kid); }
}
document.getElementById('fold').addEventListener('click', () => { fold(root); marked = -1; openFirst(); redraw(); fit(root); });
document.getElementById('open').addEventListener('click', () => {
  // One level more, as far as it stays small.
  const next = [];
  const walk = n => { for (const kid of kidsOf(n)) if (kid.open) walk(kid); else if (canOpen(kid)) next.push(kid); };
  walk(root);
  let room = 1500;
  for (const n of next) { if (room <= 0) break; n.open = true; room -= kidsOf(n).length; }
  redraw();
  fit(root);
});
document.getElementById('fit').addEventListener('click', () => fit(root, 1.2));
addEventListener('keydown', e => {
  if (e.target === box) return;
  if (e.key === '0') fit(root, 1.2);
  if (e.key === 'Escape') document.getElementById('fold').click();
});
const legend = document.getElementById('legend');
legend.innerHTML = '<b>lines: the axes that cut a value</b>' +
  '<div><i style="background:var(--edge)"></i>whole on every device</div>' +
  kinds.slice(0, 10).map(k => `<div><i style="background:${hues[kinds.indexOf(k) % hues.length]}"></i>${esc(k)}</div>`).join('') +
  '<div><i style="background:var(--red)"></i>reshard: a collective</div>';
// At first as much is open as can be read at a glance; single folders around everything always are.
function openFirst() {
  let seen = kidsOf(root).length;
  for (let found = true; found;) {
    found = false;
    const next = [];
    const walk = n => { for (const kid of kidsOf(n)) if (kid.open) walk(kid); else if (canOpen(kid)) next.push(kid); };
    walk(root);
    next.sort((a, b) => sumOf(b).moved - sumOf(a).moved || sumOf(b).ops - sumOf(a).ops);
    for (const n of next) {
      const more = kidsOf(n).length;
      const alone = seen === 1 && next.length === 1;
      if (!alone && (seen + more > 36 || !sumOf(n).moved)) continue;
      n.open = found = true;
      seen += more;
      break;
    }
  }
}
openFirst();
redraw();
const wanted = new URLSearchParams(location.hash.slice(1));
if (wanted.has('r') && D.groups[+wanted.get('r')] !== undefined) select(+wanted.get('r'), true); else fit(root);
if (wanted.has('open')) { document.getElementById('open').click(); }
