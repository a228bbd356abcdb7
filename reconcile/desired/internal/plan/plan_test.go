package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// child makes a wanted child of a word: its state, "!" for one that isn't healthy.
func child(strategy Strategy, word string) Wanted {
	states := map[string]State{"absent": Absent, "going": Terminating, "old": Outdated, "new": Current, "unknown": Unknown}
	name, isSick := strings.CutSuffix(word, "!")
	state, ok := states[name]
	if !ok {
		panic(word)
	}
	return Wanted{Strategy: strategy, State: state, Healthy: !isSick && state != Absent && state != Terminating && state != Unknown}
}

// text is the form of actions in tables.
func text(actions []Action) string {
	var all []string
	for _, a := range actions {
		one := fmt.Sprint(a.Verb, " ", a.Child)
		if a.Verb == Wait && a.For != a.Child {
			one += fmt.Sprint(" for ", a.For)
		}
		all = append(all, one)
	}
	return strings.Join(all, ", ")
}

func TestPlan(t *testing.T) {
	t.Parallel()
	going, protected := Unwanted{Terminating: true}, Unwanted{Protected: true}
	for _, row := range []struct {
		reason   string
		strategy Strategy
		wanted   string
		unwanted []Unwanted
		want     string
	}{
		{"desired 5: nothing is wanted, nothing is there", InPlace, "", nil, ""},
		{"desired 5: all are as wanted", InPlace, "new new!", nil, ""},
		{"desired 5: what is absent is created at once", OnDelete, "absent absent", nil, "create 0, create 1"},
		{"desired 5: creations come first", InPlace, "old absent", nil, "create 1, apply 0"},
		{"desired 5: a roll creates all that is absent at once", RollingInPlace, "absent absent new", nil, "create 0, create 1"},
		{"desired 6: OnDelete leaves what differs", OnDelete, "old new", nil, ""},
		{"desired 6: InPlace changes all at once, healthy or not", InPlace, "old old! new", nil, "apply 0, apply 1"},
		{"desired 6: Replace replaces", Replace, "old new", nil, "replace 0"},
		{"desired 6: Recreate recreates all at once", Recreate, "old old", nil, "recreate 0, recreate 1"},
		{"desired 6: what is being deleted is waited for", InPlace, "going old", nil, "wait 0, apply 1"},
		{"desired 7: a roll updates one", RollingInPlace, "old old new", nil, "apply 0, wait 1 for 0"},
		{"desired 7: in the order of the answer", RollingRecreate, "new old old", nil, "recreate 1, wait 2 for 1"},
		{"desired 7: it waits for the health of the last one", RollingInPlace, "new! old old", nil, "wait 1 for 0, wait 2 for 0"},
		{"desired 7: it waits for the health of any other one", RollingInPlace, "old new!", nil, "wait 0 for 1"},
		{"desired 7: it waits for one that is created now", RollingInPlace, "old absent", nil, "create 1, wait 0 for 1"},
		{"desired 7: it waits for one that is being deleted", RollingRecreate, "going old", nil, "wait 0, wait 1 for 0"},
		{"desired 7: those that aren't healthy come first", RollingRecreate, "old old! old!", nil, "wait 0 for 1, recreate 1, wait 2 for 1"},
		{"desired 7: a healthy one waits for others that aren't", RollingInPlace, "old! old", nil, "apply 0, wait 1 for 0"},
		{"desired 7: a new version mends a broken one", RollingInPlace, "old! new", nil, "apply 0"},
		{"desired 70: one that isn't healthy waits for no other one", RollingInPlace, "new! old! old", nil, "apply 1, wait 2 for 1"},
		{"desired 70: nor for one that is being deleted", RollingRecreate, "going old! old!", nil, "wait 0, recreate 1, wait 2 for 1"},
		{"desired 61: nothing is done with one of an unknown state, and others aren't deleted", InPlace, "unknown old", []Unwanted{{}}, "apply 1"},
		{"desired 61: it holds up a roll", RollingInPlace, "unknown old", nil, "wait 1 for 0"},
		{"desired 7: without differences the health doesn't matter", RollingInPlace, "new! new", nil, ""},
		{"desired 8: others are deleted last", InPlace, "old absent", []Unwanted{{}, {}}, "create 1, apply 0, delete 0, delete 1"},
		{"desired 8: not those that go already", InPlace, "", []Unwanted{going, {}}, "delete 1"},
		{"desired 8: not those that are protected", InPlace, "", []Unwanted{protected, {}}, "delete 1"},
		{"desired 8: nor while a wanted one is being deleted", Recreate, "going new", []Unwanted{{}}, "wait 0"},
		{"desired 8: a roll that waits doesn't hold it up", RollingInPlace, "new! old", []Unwanted{{}}, "wait 1 for 0, delete 0"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			var wanted []Wanted
			for word := range strings.FieldsSeq(row.wanted) {
				wanted = append(wanted, child(row.strategy, word))
			}
			assert.Equal(t, row.want, text(Of(wanted, row.unwanted)))
		})
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	t.Run("desired 7: each kind is rolled for itself", func(t *testing.T) {
		t.Parallel()
		wanted := []Wanted{child(RollingInPlace, "old"), child(RollingInPlace, "new!"), child(RollingRecreate, "old"), child(RollingRecreate, "new")}
		wanted[0].Group, wanted[1].Group = 1, 1
		assert.Equal(t, "recreate 2, wait 0 for 1", text(Of(wanted, nil)), "in the order of the kinds")
	})
}

// world is a simulated cluster. Its children become healthy some time after a change, unless they are broken.
type world struct {
	random   *rand.Rand
	wanted   []Wanted
	unwanted []Unwanted
	broken   map[int]bool
}

func newWorld(seed uint64) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 1)), broken: map[int]bool{}}
	all := []Strategy{OnDelete, InPlace, Replace, Recreate, RollingInPlace, RollingRecreate}
	group := []Strategy{all[w.random.IntN(len(all))], all[w.random.IntN(len(all))]}
	for range w.random.IntN(9) {
		g, state := w.random.IntN(2), State(w.random.IntN(4))
		w.wanted = append(w.wanted, Wanted{
			Group: g, Strategy: group[g], State: state, Healthy: (state == Outdated || state == Current) && w.random.IntN(3) > 0,
		})
	}
	for range w.random.IntN(4) {
		w.unwanted = append(w.unwanted, Unwanted{Terminating: w.random.IntN(3) == 0, Protected: w.random.IntN(4) == 0})
	}
	return w
}

// check asserts what holds of each plan.
func (w *world) check(t *testing.T, actions []Action) {
	rolls, lastDeletion := map[int]int{}, false
	seen := map[Action]bool{}
	for _, a := range actions {
		require.False(t, seen[a], "%v twice", a)
		seen[a] = true
		if a.Verb == Delete {
			lastDeletion = true
			require.False(t, w.unwanted[a.Child].Terminating || w.unwanted[a.Child].Protected)
			continue
		}
		require.False(t, lastDeletion, "deletions come last")
		child := w.wanted[a.Child]
		if a.Verb == Wait || a.Verb == Create || !child.Strategy.Rolls() {
			continue
		}
		rolls[child.Group]++
		require.Equal(t, 1, rolls[child.Group], "one after the other")
		for i, other := range w.wanted {
			if child.Healthy && i != a.Child && other.Group == child.Group {
				require.True(t, other.Healthy, "%v takes a healthy child away while %d isn't healthy", a, i)
			}
		}
	}
}

// step does the actions, and lets some time pass.
func (w *world) step(actions []Action) {
	for _, a := range actions {
		switch a.Verb {
		case Create, Apply, Replacing:
			w.wanted[a.Child].State, w.wanted[a.Child].Healthy = Current, false
		case Recreating:
			w.wanted[a.Child].State, w.wanted[a.Child].Healthy = Terminating, false
		case Delete:
			w.unwanted[a.Child].Terminating = true
		}
	}
	for i := range w.wanted {
		switch child := &w.wanted[i]; {
		case w.random.IntN(2) == 0:
		case child.State == Terminating:
			child.State = Absent
		case child.State == Current:
			child.Healthy = !w.broken[i]
		}
	}
}

// isDone reports whether nothing is left to do.
func (w *world) isDone() bool {
	return !slices.ContainsFunc(w.wanted, func(c Wanted) bool { return c.State != Current && c.Strategy != OnDelete || c.State == Absent }) &&
		!slices.ContainsFunc(w.unwanted, func(u Unwanted) bool { return !u.Terminating && !u.Protected })
}

func TestPlansConverge(t *testing.T) {
	t.Parallel()
	t.Run("desired 9: plans converge, and never take a healthy child away beside one that isn't", func(t *testing.T) {
		t.Parallel()
		for seed := range uint64(2000) {
			converge(t, seed)
		}
	})
	t.Run("desired 9: a broken child stops a roll, and a mended one lets it go on", func(t *testing.T) {
		t.Parallel()
		for seed := range uint64(500) {
			w := newWorld(seed)
			w.wanted = nil
			for range 5 {
				w.wanted = append(w.wanted, child(RollingRecreate, "old"))
			}
			for i := range 5 {
				w.broken[i] = true
			}
			for range 100 {
				w.step(Of(w.wanted, w.unwanted))
			}
			changed := slices.IndexFunc(w.wanted, func(c Wanted) bool { return c.State == Outdated })
			require.Equal(t, 1, changed, "the first one was changed, and no other")
			w.broken = map[int]bool{}
			w.wanted[0].State = Outdated // something else is wanted
			for range 200 {
				w.step(Of(w.wanted, w.unwanted))
			}
			require.True(t, w.isDone())
		}
	})
}

func converge(t *testing.T, seed uint64) {
	w := newWorld(seed)
	for range 300 {
		actions := Of(w.wanted, w.unwanted)
		require.Equal(t, actions, Of(slices.Clone(w.wanted), slices.Clone(w.unwanted)), "the same again after a restart")
		w.check(t, actions)
		if len(actions) == 0 {
			break
		}
		w.step(actions)
	}
	require.True(t, w.isDone(), "seed %d: %v", seed, w.wanted)
	require.Empty(t, Of(w.wanted, w.unwanted), "seed %d", seed)
}

func TestOrder(t *testing.T) {
	t.Parallel()
	t.Run("desired 9: the order of the children decides only whose turn it is", func(t *testing.T) {
		t.Parallel()
		for seed := range uint64(500) {
			w := newWorld(seed)
			places := w.random.Perm(len(w.wanted))
			shuffled := make([]Wanted, len(places))
			for to, from := range places {
				shuffled[to] = w.wanted[from]
			}
			var before, after []string
			for _, a := range Of(w.wanted, w.unwanted) {
				before = append(before, signOf(a, w.wanted, a.Child))
			}
			for _, a := range Of(shuffled, w.unwanted) {
				place := a.Child
				if a.Verb != Delete {
					place = places[a.Child]
				}
				after = append(after, signOf(a, shuffled, place))
			}
			assert.ElementsMatch(t, before, after, "seed %d", seed)
		}
	})
}

// signOf describes an action in a way that doesn't depend on whose turn it is.
func signOf(a Action, wanted []Wanted, place int) string {
	if a.Verb == Delete || !wanted[a.Child].Strategy.Rolls() || a.Verb == Create {
		return fmt.Sprint(a.Verb, place)
	}
	if a.Verb == Wait && a.For != a.Child {
		return fmt.Sprint(a.Verb, wanted[a.Child].Group)
	}
	return fmt.Sprint(a.Verb, wanted[a.Child].Group, wanted[a.Child].Healthy)
}
