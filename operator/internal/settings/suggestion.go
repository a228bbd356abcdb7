package settings

import (
	"fmt"
	"slices"
)

// Suggestion returns ": did you mean NAME?" for the end of an error. NAME is prefix and the known name that is most
// similar to name. If no known name is similar, Suggestion returns an empty text.
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

// edits returns how many characters have to be inserted, removed or changed to turn one text into the other
// (Levenshtein).
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
