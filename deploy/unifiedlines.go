package deploy

import "slices"

// editLimit limits the search for the shortest edit script, whose time and memory grow with the square of the number of
// edits. If more lines differ, all lines between the first and the last difference are shown as removed and added.
const editLimit = 2000

// lineEdits returns the edits from one list of lines to another. It uses the greedy algorithm of Myers, "An O(ND)
// Difference Algorithm and Its Variations". The result is the shortest script, within editLimit.
func lineEdits(from, to []string) []lineEdit {
	first, shorter := 0, min(len(from), len(to))
	for first < shorter && from[first] == to[first] {
		first++
	}
	last := 0
	for last < shorter-first && from[len(from)-1-last] == to[len(to)-1-last] {
		last++
	}
	edits := edited(nil, ' ', from[:first])
	edits = append(edits, middleEdits(from[first:len(from)-last], to[first:len(to)-last])...)
	return edited(edits, ' ', from[len(from)-last:])
}

// edited appends an edit for each line.
func edited(edits []lineEdit, op byte, lines []string) []lineEdit {
	for _, line := range lines {
		edits = append(edits, lineEdit{op, line})
	}
	return edits
}

// middleEdits is lineEdits for lists that differ in the first line and in the last one.
func middleEdits(from, to []string) (edits []lineEdit) {
	paths := shortest(from, to)
	if paths == nil {
		return edited(edited(nil, '-', from), '+', to)
	}
	x, y := len(from), len(to)
	for d := len(paths) - 1; d >= 0; d-- { // from the end to the beginning
		begin, removes := paths.edit(d, x-y)
		for ; x > begin; x, y = x-1, y-1 {
			edits = append(edits, lineEdit{' ', from[x-1]})
		}
		switch {
		case d == 0:
		case removes:
			x--
			edits = append(edits, lineEdit{'-', from[x]})
		default:
			y--
			edits = append(edits, lineEdit{'+', to[y]})
		}
	}
	slices.Reverse(edits)
	return edits
}

// editPaths holds, for each number of edits d, how far paths with d edits get. On diagonal k, k more lines of the first
// list than of the second list are used. At index k+d is the number of lines of the first list at the end of the path
// on diagonal k.
type editPaths [][]int32

// shortest returns the paths for each number of edits, up to the first path that reaches the end of both lists. It
// returns nil if that path has more edits than editLimit, or if a list is empty.
func shortest(from, to []string) (paths editPaths) {
	for d := 0; d <= editLimit && len(from) > 0 && len(to) > 0; d++ {
		paths = append(paths, make([]int32, 2*d+1))
		for k := -d; k <= d; k += 2 {
			x, _ := paths.edit(d, k)
			for x < len(from) && x-k < len(to) && from[x] == to[x-k] {
				x++
			}
			paths[d][k+d] = int32(x)
			if x >= len(from) && x-k >= len(to) {
				return paths
			}
		}
	}
	return nil
}

// edit returns where the d-th edit of a path leads on diagonal k, and whether it removes a line or adds one.
func (p editPaths) edit(d, k int) (x int, removes bool) {
	if d == 0 {
		return 0, false
	}
	before := p[d-1]
	if k == -d || k != d && before[k+d-2] < before[k+d] {
		return int(before[k+d]), false
	}
	return int(before[k+d-2]) + 1, true
}
