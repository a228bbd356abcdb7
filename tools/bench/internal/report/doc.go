// Package report stores the results of a benchmark's rounds, and shows them as lines, as a table and as charts.
//
// A [Store] keeps each [Round] in a file of its own, so that an interrupted run continues where it was. A [Report]
// compares the rounds with the goals, a [Row] for each figure, and writes lines for programs ([Report.Lines]), a
// Markdown table for people ([Report.Table]) and a chart for each figure ([Report.Charts]). [TrapTable] writes a table
// of yes-or-no results.
//
// Nothing here measures, and nothing knows what a figure means. Figures carry their unit in their name, such as
// "burst-seconds", and less is better.
//
// # Why the ratio is that of each round
//
// A [Ratio] is the median of ours/peer of the same round, not the ratio of the two medians. Other processes come, stay
// for a while and go, and clocks drift. A disturbance of a round affects both of its sides alike, and cancels in their
// ratio. If about half of the rounds are disturbed, it would change the median of one side but not of the other.
//
// # What is missing is an error
//
// Where a figure is missing on one side of a round, its row has no value: it is shown as an error and meets no goal. A
// median over the rounds that happened to work would look better than the operator is.
package report
