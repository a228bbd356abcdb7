package dag

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIndex(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why  string
		hash func(r *rand.Rand) uint32
	}{
		{"hashes as they are", (*rand.Rand).Uint32},
		{"all in one place", func(*rand.Rand) uint32 { return 7 << 28 }},
		{"at the end of the table, so that entries go round to its beginning", func(r *rand.Rand) uint32 { return ^uint32(0) - uint32(r.IntN(3)) }},
		{"few places", func(r *rand.Rand) uint32 { return uint32(r.IntN(5)) << 29 }},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 2))
			var x index
			x.grow()
			var names []string
			var hashes []uint32
			live := map[int32]bool{}
			for range 2000 {
				if len(live) > 0 && r.IntN(3) == 0 {
					id := int32(r.IntN(len(names)))
					if live[id] {
						x.remove(id, hashes[id])
						delete(live, id)
					}
					continue
				}
				if len(live) == 300 {
					continue
				}
				id := int32(len(names))
				names, hashes = append(names, fmt.Sprint(id)), append(hashes, row.hash(r))
				require.Equal(t, none, x.lookup(names, names[id], hashes[id]))
				x.add(names[id], hashes[id], id)
				live[id] = true
				for id := range names {
					want := none
					if live[int32(id)] {
						want = int32(id)
					}
					require.Equal(t, want, x.lookup(names, names[id], hashes[id]))
				}
				require.Equal(t, len(live), x.count)
			}
			require.Less(t, len(live), len(names), "some have to have gone")
		})
	}
}
