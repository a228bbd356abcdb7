package smp

import (
	"slices"

	"github.com/operkit/operkit/smp/internal/document"
)

// match has the indexes of two equal elements: one in the list before, one in the list after.
type match struct{ before, after int }

// maxEdits is the number of elements that may differ between two lists that are compared element by element. Time and
// memory grow with the square of that number.
const maxEdits = 512

// commonElements returns the longest sequence of elements that two lists have in the same order. ok is false when
// finding the sequence would take too long.
//
// It skips the equal elements at both ends, and uses the greedy algorithm of Myers, "An O(ND) Difference Algorithm and
// Its Variations" (1986), for the elements between them.
func commonElements(before, after []any) (common []match, ok bool) {
	start, end := 0, 0
	shorter := min(len(before), len(after))
	for start < shorter && document.Equal(before[start], after[start]) {
		common = append(common, match{start, start})
		start++
	}
	for end < shorter-start && document.Equal(before[len(before)-1-end], after[len(after)-1-end]) {
		end++
	}
	middle, ok := commonMiddle(before[start:len(before)-end], after[start:len(after)-end])
	for _, m := range middle {
		common = append(common, match{m.before + start, m.after + start})
	}
	for ; end > 0; end-- {
		common = append(common, match{len(before) - end, len(after) - end})
	}
	return common, ok
}

// commonMiddle is commonElements for lists that have no common beginning and no common end.
func commonMiddle(before, after []any) (common []match, ok bool) {
	bound := min(len(before)+len(after), maxEdits)
	reach := frontier{x: make([]int, 2*bound+3), zero: bound + 1}
	var trace []frontier
	for edits := 0; edits <= bound; edits++ {
		trace = append(trace, frontier{x: slices.Clone(reach.x), zero: reach.zero})
		for k := -edits; k <= edits; k += 2 {
			x := reach.next(k, edits)
			for y := x - k; x < len(before) && y < len(after) && document.Equal(before[x], after[y]); y++ {
				x++
			}
			reach.x[reach.zero+k] = x
			if x >= len(before) && x-k >= len(after) {
				return backtrack(trace, len(before), len(after)), true
			}
		}
	}
	return nil, false
}

// frontier holds, for each diagonal, the greatest index in the first list that a given number of edits reaches.
// Diagonal k has the pairs of elements whose index in the first list is k more than their index in the second list.
type frontier struct {
	x    []int
	zero int
}

// next returns the index in the first list that one more edit reaches on diagonal k.
func (f frontier) next(k, edits int) int {
	if f.adds(k, edits) {
		return f.x[f.zero+k+1]
	}
	return f.x[f.zero+k-1] + 1
}

// adds reports whether the edit that reaches furthest on diagonal k adds an element of the second list.
func (f frontier) adds(k, edits int) bool {
	return k == -edits || k != edits && f.x[f.zero+k-1] < f.x[f.zero+k+1]
}

// backtrack follows the edits back from the ends of both lists, and returns the equal elements between the edits. trace
// has the frontier before each edit.
func backtrack(trace []frontier, x, y int) (common []match) {
	for edits := len(trace) - 1; edits >= 0; edits-- {
		startX, startY := 0, 0
		if edits > 0 {
			from := x - y - 1
			if trace[edits].adds(x-y, edits) {
				from += 2
			}
			startX = trace[edits].x[trace[edits].zero+from]
			startY = startX - from
		}
		for x > startX && y > startY {
			x, y = x-1, y-1
			common = append(common, match{x, y})
		}
		x, y = startX, startY
	}
	slices.Reverse(common)
	return common
}
