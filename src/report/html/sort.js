
// A click on a column's head sorts the table by it, a second one the other way round.
document.querySelectorAll("th").forEach(function (head) {
  head.addEventListener("click", function () {
    var body = head.closest("table").tBodies[0], column = head.cellIndex;
    var down = head.dataset.down !== "yes";
    head.dataset.down = down ? "yes" : "no";
    var value = function (row) {
      var cell = row.cells[column];
      return cell.dataset.by === undefined ? cell.textContent : Number(cell.dataset.by);
    };
    Array.from(body.rows).sort(function (a, b) {
      var x = value(a), y = value(b);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    }).forEach(function (row) { body.appendChild(row); });
  });
});
