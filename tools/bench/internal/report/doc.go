// Package report keeps what the rounds of a benchmark gave and shows it as lines, as a table and as pictures.
//
// A [Store] keeps each [Round] in a file of its own, so that a run that was interrupted goes on where it was. A
// [Report] puts the rounds next to what is wanted of them, a [Row] for each figure, and writes lines for programs
// ([Report.Lines]), a Markdown table for people ([Report.Table]) and a chart for each figure ([Report.Charts]).
// [TrapTable] does the same for questions that are answered by yes or no.
//
// Nothing here measures, and nothing knows what a figure means. Figures carry their unit in their name, such as
// "burst-seconds", and less is better.
//
// # Why the ratio is that of each round
//
// A [Ratio] is the median of ours/peer of the same round, not the ratio of the two medians. Other processes come, stay
// for a while and go, and clocks drift. What disturbs a round meets both of its sides alike and cancels in their ratio,
// while it would move the median of one side and not of the other when about half of the rounds are disturbed.
//
// # What is missing is an error
//
// Where a figure is missing on one side of a round, its row has no value: it is shown as an error and meets no goal. A
// median over the rounds that happened to work would look better than the operator is.
package report
