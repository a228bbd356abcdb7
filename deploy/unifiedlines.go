package deploy

// editLimit limits the search for the shortest edit script, whose time grows with the square of the number of edits. If
// more than 2*editLimit lines differ, all lines of this part are shown as removed and added.
const editLimit = 1000

// lineEdits returns the edits from one list of lines to another. It uses the variant in linear space of Myers, "An
// O(ND) Difference Algorithm and Its Variations". The result is the shortest script, within editLimit.
func lineEdits(from, to []string) []lineEdit {
	numbers := map[string]int{}
	d := lineDiff{a: numbered(from, numbers), b: numbered(to, numbers), gone: make([]bool, len(from)), new: make([]bool, len(to))}
	d.compare(0, len(from), 0, len(to))
	edits := make([]lineEdit, 0, max(len(from), len(to)))
	for i, j := 0, 0; i < len(from) || j < len(to); {
		switch {
		case i < len(from) && d.gone[i]:
			edits = append(edits, lineEdit{'-', from[i]})
			i++
		case j < len(to) && d.new[j]:
			edits = append(edits, lineEdit{'+', to[j]})
			j++
		default:
			edits = append(edits, lineEdit{' ', from[i]})
			i, j = i+1, j+1
		}
	}
	return edits
}

// numbered returns a number for each line. Equal lines have equal numbers.
func numbered(lines []string, numbers map[string]int) []int {
	out := make([]int, len(lines))
	for i, line := range lines {
		number, known := numbers[line]
		if !known {
			number = len(numbers)
			numbers[line] = number
		}
		out[i] = number
	}
	return out
}

// lineDiff marks the lines of a that aren't in b, and the new lines of b.
type lineDiff struct {
	a, b      []int
	gone, new []bool
}

// compare marks the lines of a[i:m] and b[j:n].
func (d *lineDiff) compare(i, m, j, n int) {
	for i < m && j < n && d.a[i] == d.b[j] {
		i, j = i+1, j+1
	}
	for i < m && j < n && d.a[m-1] == d.b[n-1] {
		m, n = m-1, n-1
	}
	if i < m && j < n {
		if x, y, found := d.middle(i, m, j, n); found {
			d.compare(i, x, j, y)
			d.compare(x, m, y, n)
			return
		}
	}
	for ; i < m; i++ {
		d.gone[i] = true
	}
	for ; j < n; j++ {
		d.new[j] = true
	}
}

// middle searches from both ends for a point on a shortest path through a[i:m] and b[j:n]. The first lines of the two
// differ, and so do the last lines, so the point isn't a corner.
func (d *lineDiff) middle(i, m, j, n int) (x, y int, found bool) {
	width, height := m-i, n-j
	limit := min((width+height+1)/2, editLimit)
	forward := newFront(width, height, limit, func(x, y int) bool { return d.a[i+x] == d.b[j+y] })
	backward := newFront(width, height, limit, func(x, y int) bool { return d.a[m-1-x] == d.b[n-1-y] })
	delta := width - height
	for edits := 0; edits <= limit; edits++ {
		for k := -edits; k <= edits; k += 2 {
			x := forward.advance(edits, k)
			if opposite := backward.reached(delta - k); x >= 0 && opposite >= 0 && x+opposite >= width {
				return i + x, j + x - k, true
			}
		}
		for k := -edits; k <= edits; k += 2 {
			x := backward.advance(edits, k)
			if opposite := forward.reached(delta - k); x >= 0 && opposite >= 0 && x+opposite >= width {
				return m - x, n - (x - k), true
			}
		}
	}
	return 0, 0, false
}

// front holds how far a search from a corner gets on each diagonal k = x - y with a number of edits.
type front struct {
	width, height, limit int
	equal                func(x, y int) bool
	// far holds the x that is reached on diagonal k, at index k+limit+1. It is -1 if the diagonal isn't reached.
	far []int
}

func newFront(width, height, limit int, equal func(x, y int) bool) *front {
	f := &front{width, height, limit, equal, make([]int, 2*limit+3)}
	for i := range f.far {
		f.far[i] = -1
	}
	return f
}

func (f *front) reached(k int) int {
	if k < -f.limit-1 || k > f.limit+1 {
		return -1
	}
	return f.far[k+f.limit+1]
}

// advance returns the x that is reached on diagonal k with the given number of edits, the last of which comes from a
// neighbouring diagonal. It returns -1 if the diagonal isn't reached.
func (f *front) advance(edits, k int) int {
	x := -1
	if edits == 0 {
		x = 0
	}
	if above := f.reached(k + 1); above >= 0 && above-k <= f.height {
		x = above
	}
	if left := f.reached(k - 1); left >= x && left >= 0 && left < f.width {
		x = left + 1
	}
	for x >= 0 && x < f.width && x-k < f.height && f.equal(x, x-k) {
		x++
	}
	f.far[k+f.limit+1] = x
	return x
}
