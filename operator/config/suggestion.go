package config

import (
	"fmt"
	"slices"
)

// Suggestion returns what whoever wrote name may have meant among those that are known, as the end of a sentence and with a
// prefix before it; empty if nothing is like it.
func Suggestion(name string, known []string, prefix string) string {
	best, distance := "", max(2, len(name)/4)+1
	for _, candidate := range slices.Sorted(slices.Values(known)) {
		if d := edits(name, candidate); d < distance {
			best, distance = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %s%s?", prefix, best)
}

// edits is how many characters have to be put in, taken out or changed to get from one text to the other (Levenshtein).
func edits(from, to string) int {
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(from) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(to) {
			change := diagonal
			if from[i] != to[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
