// Panel: of a one-layer transformer, how its circuit forms: restricted and excluded loss, the waves of its embedding and of its
// logits over time, and the attention of the chosen pair.

import { prepare } from "lab/canvas.js";
import { StepChart } from "lab/chart.js";
import { css, sample } from "lab/color.js";
import { grouped, make, number, percent } from "lab/dom.js";
import { measuredRows, measureMore } from "lab/measured.js";
import { Panel, toCsv } from "lab/panel.js";
import { on, rowAt, state } from "lab/store.js";

const LOSSES = [["train", "train"], ["test", "test"], ["restricted", "waves"], ["excluded", "ink"]];
const ROW = 34; // pixels for a head

class Circuit extends Panel {
  constructor() {
    super({
      id: "circuit",
      title: "The circuit of the transformer",
      wide: true,
      redraw: "view measured rows",
      when: () => state.run?.snapshots.length,
      help: [
        "Progress measures of Nanda et al. (2023). The key frequencies are those whose norm in the readout from the neurons is above a quarter of the largest, at the end. Restricted loss: only what the logits have along waves of these frequencies in the sum, over all pairs. It falls when the circuit works, whatever else the network still remembers; but what is left depends on the sum alone, so that restricting supplies much of the rule, as Waves only does. Excluded loss: the logits without that, over the training pairs. It rises when the network stops needing its memory. Both can move while train and test loss stand still.",
        "Below, frequency by frequency over time: of the embedding, the share of its power; of the logits, the share of what differs from pair to pair that is a wave in the sum. For products both run along the discrete logarithm.",
        "Attention: how much each head takes from n, from m and from the mark = where it reads the pair that is chosen in the table of answers.",
      ],
    });
    this.sentence = make("p", { class: "sentence" });
    this.chart = new StepChart("Progress measures and frequencies over training steps; the numbers are in the CSV", 560);
    this.attention = make("canvas", { class: "attention", role: "img", "aria-label": "Attention of every head to n, m and = at the chosen pair" });
    this.heads = make("p", { class: "sentence" });
    this.body.append(this.sentence, this.chart.element, this.attention, this.heads);
    on("frame", () => this.visible && this.applies && this.when() && this.follow());
  }

  draw() {
    const { run } = state;
    measureMore();
    const rows = measuredRows();
    const x = rows.map(([step]) => step);
    const curves = LOSSES.map(([name, color]) => ({
      ...(name in (rows[0]?.[1] ?? {}) ? { x, y: rows.map(([, found]) => found[name]), dots: true } : { x: run.rows.map((row) => row.step), y: run.rows.map((row) => row[`${name}_loss`]) }),
      color: css(color), name,
    }));
    const heat = (title, name) => ({ title, heat: { x, rows: rows.map(([, found]) => found[name]) }, write: (share) => percent(share, 0) });
    const shown = rows.length ? [heat("frequencies of the embedding", "embedding"), heat("waves of the sum in the logits", "logits")] : [];
    const loss = run.settings.loss === "mse" ? "MSE" : run.settings.loss.replaceAll("_", " ");
    this.chart.draw({ tracks: [{ title: `loss (${loss})`, log: true, write: (v) => number(v, 3), curves }, ...shown] });
    this.key(...LOSSES.map(([name, color]) => [css(color), `${name} loss`]), [sample("sizes", 0.85), "share of a frequency", "box"]);
    this.follow();
  }

  // What moves with the clock.
  follow() {
    this.sentence.textContent = this.say(measuredRows());
    this.drawAttention();
  }

  // What the nearest measured step before the clock says, and the end.
  say(rows) {
    if (!rows.length) return "The measures are on their way.";
    const { keys } = state.run;
    const now = (rows.findLast(([step]) => step <= (state.frame?.step ?? Infinity)) ?? rows[0]);
    const row = rowAt(state.run, now[0]);
    const sum = keys?.reduce((total, k) => total + now[1].logits[k - 1], 0);
    return `Step ${grouped(now[0])}: train ${number(row?.train_loss)}, test ${number(row?.test_loss)}, restricted ${number(now[1].restricted)}, excluded ${number(now[1].excluded)}.`
      + (keys ? ` Key frequencies at the end: ${keys.join(", ")}; along the sum they hold ${percent(sum, 0)} of what differs in the logits.` : "");
  }

  drawAttention() {
    const { frame, run } = state;
    const has = Boolean(frame?.attention);
    this.attention.hidden = this.heads.hidden = !has;
    if (!has) return;
    const p = run.settings.modulus;
    const [n, m] = (state.view.cell ?? [1, 2]).map((value) => Math.min(value, p - 1));
    const H = frame.heads.length;
    this.attention.style.height = `${24 + ROW * H}px`;
    const { context, width } = prepare(this.attention);
    const left = 150;
    const wide = (width - left) / 3;
    const share = (h, t) => frame.attention[((n * p + m) * H + h) * 3 + t] / 255;
    context.textBaseline = "middle";
    [`n = ${n}`, `m = ${m}`, "="].forEach((label, t) => {
      context.textAlign = "center";
      context.fillStyle = css("muted");
      context.fillText(label, left + (t + 0.5) * wide, 10);
      frame.heads.forEach((_, h) => {
        context.fillStyle = sample("sizes", share(h, t));
        context.fillRect(left + t * wide, 22 + h * ROW, wide - 2, ROW - 2);
        context.fillStyle = css(share(h, t) > 0.5 ? "panel" : "ink");
        context.fillText(percent(share(h, t), 0), left + (t + 0.5) * wide, 22 + h * ROW + ROW / 2);
      });
    });
    context.textAlign = "left";
    context.fillStyle = css("ink");
    frame.heads.forEach(({ frequency, explained }, h) =>
      context.fillText(`head ${h}: k = ${frequency} (${percent(explained, 0)})`, 2, 22 + h * ROW + ROW / 2));
    this.heads.textContent = `Attention at (n, m) = (${n}, ${m}); choose another pair in the table of answers. Beside each head the frequency of n to which its score responds most, and how much of the score that is.`;
  }

  csv() {
    const rows = measuredRows();
    const of = (name) => Object.fromEntries((rows[0]?.[1][name] ?? []).map((_, i) => [`${name}_${i + 1}`, rows.map(([, found]) => found[name][i])]));
    return toCsv({ step: rows.map(([step]) => step), restricted: rows.map(([, d]) => d.restricted), excluded: rows.map(([, d]) => d.excluded), ...of("embedding"), ...of("logits") });
  }
}

export const create = () => new Circuit();
