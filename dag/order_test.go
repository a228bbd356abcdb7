package dag

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// list returns the order by following its links, and checks on the way that links and labels
// agree.
func (o *order) list(t *testing.T) []int32 {
	t.Helper()
	var ids []int32
	last := none
	for id := o.head; id != none; id = o.places[id].next {
		require.Equal(t, last, o.places[id].prev)
		require.Less(t, o.places[id].label, labelEnd)
		if last != none {
			require.True(t, o.before(last, id), "labels %d, %d", o.places[last].label, o.places[id].label)
		}
		ids, last = append(ids, id), id
	}
	require.Equal(t, last, o.tail)
	require.Len(t, ids, len(o.places))
	return ids
}

func TestOrderMove(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why    string
		choose func(r *rand.Rand, list []int32) (from, to, place int)
	}{
		{"always to the front: labels run towards zero", func(_ *rand.Rand, list []int32) (int, int, int) { return len(list) - 1, len(list), 0 }},
		{"always to the back: labels run towards the end", func(*rand.Rand, []int32) (int, int, int) { return 0, 1, -1 }},
		{"always to the same gap: it is used up again and again", func(_ *rand.Rand, list []int32) (int, int, int) { return len(list) - 1, len(list), 1 }},
		{"runs to the same gap: room for all of a run at once", func(_ *rand.Rand, list []int32) (int, int, int) { return len(list) / 2, len(list), 1 }},
		{"runs to the front", func(_ *rand.Rand, list []int32) (int, int, int) { return len(list) / 2, len(list), 0 }},
		{"anything anywhere", func(r *rand.Rand, list []int32) (int, int, int) {
			from := r.IntN(len(list))
			to := from + 1 + r.IntN(min(5, len(list)-from))
			return from, to, r.IntN(len(list) - (to - from) + 1)
		}},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 2))
			var o order
			var want []int32
			for i := range int32(60) {
				o.append()
				want = append(want, i)
			}
			for step := range 2000 {
				from, to, place := row.choose(r, want)
				run := slices.Clone(want[from:to])
				want = slices.Delete(slices.Clone(want), from, to)
				if place < 0 {
					place = len(want)
				}
				if place < len(want) && step%2 == 0 || place == 0 {
					o.moveBefore(run, want[place])
				} else {
					o.moveBehind(run, want[place-1])
				}
				want = slices.Insert(want, place, run...)
				if step%50 == 0 || step > 1950 {
					require.Equal(t, want, o.list(t))
				}
			}
		})
	}
}

func TestOrderCrowded(t *testing.T) {
	t.Parallel()
	// Labels as close as they can be, at either end of their range and in the middle: each move has to make room first.
	for _, first := range []uint64{0, labelEnd / 2, labelEnd - 100} {
		var o order
		for i := range int32(100) {
			o.append()
			o.places[i].label = first + uint64(i)
		}
		for i := range int32(40) {
			o.moveBefore([]int32{99 - i, 59 - i}, o.head)
			o.list(t)
			o.moveBehind([]int32{99 - i}, o.tail)
			o.list(t)
			o.moveBehind([]int32{99 - i}, o.places[o.head].next)
			o.list(t)
		}
	}
}

// A chain that is built from its last node on moves each node before the one moved last, always behind the same node.
func TestOrderRelabelsRarely(t *testing.T) {
	t.Parallel()
	const nodes = 4000
	for name, move := range map[string]func(o *order, id int32){
		"before the one moved last": func(o *order, id int32) { o.moveBefore([]int32{id}, id-1) },
		"behind the one moved last": func(o *order, id int32) { o.moveBehind([]int32{id}, id-1) },
		"before one node":           func(o *order, id int32) { o.moveBefore([]int32{id}, 1) },
		"behind one node":           func(o *order, id int32) { o.moveBehind([]int32{id}, 0) },
	} {
		var o order
		for range nodes {
			o.append()
		}
		o.moveBefore([]int32{1}, 0)
		o.moveBehind([]int32{1}, 0)
		relabelled := 0
		for id := int32(2); id < nodes; id++ {
			last := o.places[id-1].label
			if move(&o, id); o.places[id-1].label != last {
				relabelled++
			}
		}
		if relabelled > nodes/400 {
			t.Errorf("%s: %d nodes are relabelled %d times", name, nodes, relabelled)
		}
		o.list(t)
	}
}
