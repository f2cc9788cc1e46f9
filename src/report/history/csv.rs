//! Writes one row per value.

use crate::formats::quoted;
use warpline_comparison::document::Value;
use warpline_comparison::history::History;

/// Returns the table.
pub fn csv(history: &History) -> String {
    let mut out = String::from("name,model,kernel,metric,commit,date,branch,value,changed\n");
    for series in &history.series {
        for point in &series.points {
            let value = match point.value {
                Some(Value::Count(count)) => count.to_string(),
                Some(Value::Ratio(ratio)) => ratio.to_string(),
                None => String::new(),
            };
            let cells = [
                series.name.as_str(),
                &series.model,
                series.kernel.as_deref().unwrap_or_default(),
                &history.metric,
                point.commit.as_deref().unwrap_or_default(),
                &point.date,
                point.branch.as_deref().unwrap_or_default(),
                &value,
                if point.changed { "yes" } else { "no" },
            ];
            out.push_str(&cells.map(quoted).join(","));
            out.push('\n');
        }
    }
    out
}
