package peering_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/peering"
	"github.com/stretchr/testify/assert"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// lasting is a peer that counts for so many seconds after noon.
func lasting(lease string, priority, seconds int) peering.Peer {
	return peering.Peer{Lease: lease, Holder: "holder-" + lease, Priority: priority, Ends: noon.Add(time.Duration(seconds) * time.Second)}
}

func led(p peering.Peer, election string) peering.Peer {
	p.Election = election
	return p
}

func freeze(seconds int) peering.Peer {
	p := lasting("freeze", 0, seconds)
	p.Frozen = true
	return p
}

func TestJudge(t *testing.T) {
	t.Parallel()
	own := lasting("own", 5, 15)
	for _, row := range []struct {
		reason string
		own    peering.Peer
		others []peering.Peer
		want   peering.Why
		by     []string
		until  int
	}{
		{"peering 1: alone it works", own, nil, peering.None, nil, 0},
		{"peering 1: its own Lease is no peer, even with another priority", own, []peering.Peer{lasting("own", 9, 15)}, peering.None, nil, 0},
		{"peering 2: a lower one doesn't matter", own, []peering.Peer{lasting("a", 4, 15)}, peering.None, nil, 0},
		{"peering 2: a negative one is lower than zero", lasting("own", 0, 15), []peering.Peer{lasting("a", -1, 15)}, peering.None, nil, 0},
		{"peering 2: a higher one makes it pause", own, []peering.Peer{lasting("a", 6, 15), lasting("b", 4, 20)}, peering.Lower, []string{"a"}, 15},
		{"peering 2: of two higher ones the first to end decides when to look again", own, []peering.Peer{lasting("a", 7, 15), lasting("b", 6, 10)}, peering.Lower, []string{"a", "b"}, 10},
		{"peering 3: an equal one makes it pause", own, []peering.Peer{lasting("a", 5, 15)}, peering.Equal, []string{"a"}, 15},
		{"peering 3: all equal ones are named", own, []peering.Peer{lasting("b", 5, 9), lasting("a", 5, 15)}, peering.Equal, []string{"a", "b"}, 9},
		{"peering 2, 3: the highest is the reason", own, []peering.Peer{lasting("a", 5, 15), lasting("b", 6, 15)}, peering.Lower, []string{"b", "a"}, 15},
		{"peering 4: one that has run out doesn't count", own, []peering.Peer{lasting("a", 6, -1)}, peering.None, nil, 0},
		{"peering 4: not even at that moment", own, []peering.Peer{lasting("a", 6, 0)}, peering.None, nil, 0},
		{"peering 5: a freeze is above every priority", lasting("own", 1<<30, 15), []peering.Peer{freeze(600)}, peering.Frozen, []string{"freeze"}, 600},
		{"peering 5: and comes before other reasons", own, []peering.Peer{lasting("a", 9, 15), freeze(600)}, peering.Frozen, []string{"freeze", "a"}, 15},
		{"peering 5: it has an end", own, []peering.Peer{freeze(0)}, peering.None, nil, 0},
		{"peering 6: the leader before it is the same peer", led(own, "shop/op"), []peering.Peer{led(lasting("a", 5, 15), "shop/op")}, peering.None, nil, 0},
		{"peering 6: whatever its priority", led(own, "shop/op"), []peering.Peer{led(lasting("a", 9, 15), "shop/op")}, peering.None, nil, 0},
		{"peering 6: another election is another peer", led(own, "shop/op"), []peering.Peer{led(lasting("a", 5, 15), "shop/two")}, peering.Equal, []string{"a"}, 15},
		{"peering 6: no election isn't one", own, []peering.Peer{lasting("a", 5, 15)}, peering.Equal, []string{"a"}, 15},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			got := peering.Judge(row.own, row.others, noon)
			assert.Equal(t, row.want, got.Why)
			var by []string
			for _, p := range got.By {
				by = append(by, p.Lease)
			}
			assert.Equal(t, row.by, by)
			if row.want == peering.None {
				assert.True(t, got.Until.IsZero())
			} else {
				assert.Equal(t, noon.Add(time.Duration(row.until)*time.Second), got.Until)
			}
			assert.NotEmpty(t, got.String())
		})
	}
}

// FuzzJudge checks the laws of the judgement for random groups, as each of its processes judges.
func FuzzJudge(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, uint64(5))
	}
	f.Fuzz(func(t *testing.T, seed, size uint64) {
		random := rand.New(rand.NewPCG(seed, size)) //nolint:gosec // a test
		var all []peering.Peer
		for i := range size % 8 {
			p := lasting(fmt.Sprint("p", i), random.IntN(4)-1, random.IntN(6)-2)
			switch random.IntN(6) {
			case 0:
				p.Frozen = true
			case 1:
				p.Election = "shop/op"
			}
			all = append(all, p)
		}
		working, anyFreeze := map[string]bool{}, false
		for _, p := range all {
			anyFreeze = anyFreeze || p.Frozen && noon.Before(p.Ends)
		}
		for _, p := range all {
			if p.Frozen || !noon.Before(p.Ends) {
				continue
			}
			v := peering.Judge(p, all, noon)
			if v.Paused() != (len(v.By) > 0) || v.Paused() != !v.Until.IsZero() {
				t.Fatalf("%+v: a pause has a cause and an end: %+v", p, v)
			}
			for i, by := range v.By {
				if !by.Frozen && by.Priority < p.Priority || !noon.Before(by.Ends) || by.Ends.Before(v.Until) {
					t.Fatalf("%+v: %+v can't make it pause until %s", p, by, v.Until)
				}
				if i > 0 && !v.By[i-1].Frozen && (by.Frozen || v.By[i-1].Priority < by.Priority) {
					t.Fatalf("not in order: %+v", v.By)
				}
			}
			if anyFreeze != (v.Why == peering.Frozen) {
				t.Fatalf("%+v: a freeze stops everything: %+v", p, v)
			}
			if !v.Paused() {
				key := p.Lease
				if p.Election != "" {
					key = p.Election
				}
				working[key] = true
			}
			// What has run out changes nothing.
			if more := peering.Judge(p, append(all[:len(all):len(all)], lasting("old", 99, 0)), noon); more.Why != v.Why || len(more.By) != len(v.By) {
				t.Fatalf("%+v: one that has run out counts: %+v", p, more)
			}
		}
		if len(working) > 1 {
			t.Fatalf("several peers work: %v of %+v", working, all)
		}
	})
}
