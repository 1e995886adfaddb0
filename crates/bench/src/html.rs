//! Measurements as a page that needs nothing else: no script, no network, light or dark as the reader has it.

use super::render::ratio_words;
use crate::{Measured, SideMeasured};

/// Bars of one measurement share a scale, from zero to its longest.
const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1d2126;--faint:#68707a;--paper:#fdfdfb;--card:#fff;--line:#e3e5e2;--whit:#1f7a5c;--other:#c2c9cf}
@media(prefers-color-scheme:dark){:root{--ink:#e6e8ea;--faint:#98a1ab;--paper:#14171a;--card:#1b1f23;--line:#2c3238;--whit:#4cc79a;--other:#4a545e}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:68rem;margin:0 auto;padding:2rem 1rem 4rem}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .4rem}
h2{font-size:1.1rem;margin:0}
p{margin:.3rem 0;max-width:46rem}
.faint{color:var(--faint);font-size:.875rem}
section{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:1.1rem 1.2rem;margin:1.2rem 0}
dl{display:grid;grid-template-columns:minmax(9rem,15rem) 1fr;gap:.45rem .9rem;margin:.9rem 0 0}
dt{font-size:.925rem;overflow-wrap:anywhere}
dd{margin:0;display:grid;grid-template-columns:1fr 5.2rem 9.6rem;gap:.6rem;align-items:center}
.track{display:block;height:.85rem;border-radius:.2rem;background:linear-gradient(var(--line),var(--line)) left/100% 1px no-repeat;background-position:0 100%}
.bar{display:block;height:100%;min-width:3px;border-radius:.2rem;background:var(--other)}
.whit .bar{background:var(--whit)}
.whit{font-weight:600}
.value,.ratio{font-variant-numeric:tabular-nums;text-align:right;font-size:.9rem;white-space:nowrap}
.ratio small{color:var(--faint);font-weight:400}
@media(max-width:40rem){main{padding:1.2rem .8rem 3rem}h1{font-size:1.5rem}section{padding:.9rem}
dl{grid-template-columns:1fr;gap:.1rem}dt{margin-top:.55rem}dd{grid-template-columns:1fr 4.6rem 5.6rem;gap:.4rem}.ratio small{display:block}}
";

/// The whole page.
pub(crate) fn page(measured: &[Measured]) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width,initial-scale=1\"><title>whit bench</title><style>\n{STYLE}</style></head><body><main>\n\
         <h1>whit bench</h1>\n<p>The measurements of five posts, run again on this machine: each way in turn, several rounds, \
         whit's way first. A bar is the median; the number at its end says how many times whit's it is, from the least to the \
         most of all rounds.</p>\n"
    );
    page.push_str(&format!("<p class=\"faint\">{}</p>\n", escaped(&machine())));
    for measured in measured {
        push_section(&mut page, measured);
    }
    page.push_str("</main></body></html>\n");
    page
}

fn push_section(page: &mut String, measured: &Measured) {
    page.push_str(&format!(
        "<section id=\"{}\"><h2>{}</h2>\n<p class=\"faint\">{} {}. The bars are {}.</p>\n<dl>\n",
        measured.name,
        escaped(measured.title),
        escaped(&measured.how),
        match measured.rounds {
            1 => "One round".to_owned(),
            rounds => format!("{rounds} rounds"),
        },
        escaped(&measured.unit.words())
    ));
    let longest = measured.sides.iter().filter_map(|side| side.ns.as_ref().ok()).map(|spread| spread.median);
    let longest = longest.fold(0.0, f64::max);
    for (place, side) in measured.sides.iter().enumerate() {
        push_side(page, measured, side, place == 0, longest);
    }
    page.push_str("</dl></section>\n");
}

fn push_side(page: &mut String, measured: &Measured, side: &SideMeasured, is_whit: bool, longest: f64) {
    let class = if is_whit { " class=\"whit\"" } else { "" };
    page.push_str(&format!("<dt{class}>{}</dt>", escaped(&side.name)));
    match &side.ns {
        Ok(spread) => {
            let share = if longest > 0.0 { spread.median / longest * 100.0 } else { 0.0 };
            let ratio = match &side.ratio {
                Some(ratio) => format!(
                    "{} × <small>{} to {}</small>",
                    ratio_words(ratio.median),
                    ratio_words(ratio.least),
                    ratio_words(ratio.most)
                ),
                None => String::new(),
            };
            page.push_str(&format!(
                "<dd{class}><span class=\"track\"><span class=\"bar\" style=\"width:{share:.2}%\"></span></span>\
                 <span class=\"value\">{}</span><span class=\"ratio\">{ratio}</span></dd>\n",
                measured.unit.value(spread.median)
            ));
        }
        Err((_, reason)) => {
            page.push_str(&format!("<dd class=\"faint\">– {}</dd>\n", escaped(reason)));
        }
    }
}

/// Describes the machine that the figures are of: they mean nothing elsewhere.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpus = read("/proc/cpuinfo");
    let model =
        cpus.lines().find_map(|line| Some(line.strip_prefix("model name")?.split_once(':')?.1.trim()));
    let kernel = read("/proc/sys/kernel/osrelease");
    format!(
        "whit {} on {}, {} CPUs, Linux {}",
        env!("CARGO_PKG_VERSION"),
        model.unwrap_or("a processor without a name"),
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        kernel.trim()
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
