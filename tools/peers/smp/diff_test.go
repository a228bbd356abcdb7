package main

import (
	"cmp"
	"reflect"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/operkit/operkit/smp"
)

// FuzzDiff: the patch that smp makes of two documents gives the second, applied by smp and by the peer.
func FuzzDiff(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, choice uint8, data []byte) {
		g := newGenerator(t, choice, data)
		before, after := g.distinct(), g.distinct()
		if g.chance(40) {
			after = runtime.DeepCopyJSON(before)
			g.change(after)
		}
		patch, err := smp.Diff(before, after, g.ours)
		if err != nil {
			t.Fatalf("Diff: %v\nbefore %s\nafter  %s", err, text(before), text(after))
		}
		want := outcome{result: after}
		ours, theirs := g.our(before, patch), g.peer(before, patch)
		if ours.failed() || !reflect.DeepEqual(ours.result, after) {
			t.Fatalf("%s\nbefore %s\nafter  %s\npatch  %s\nours   %s", g.gvk.Kind, text(before), text(after), text(patch), ours)
		}
		if !want.same(theirs) && !g.beyondPeer(before, patch, want) {
			t.Fatalf("%s\nbefore %s\nafter  %s\npatch  %s\npeer   %s", g.gvk.Kind, text(before), text(after), text(patch), theirs)
		}
	})
}

// beyondPeer tells whether a patch says by way of directives in new values what the peer takes literally.
func (k kind) beyondPeer(before, patch map[string]any, want outcome) bool {
	return want.same(k.peer(before, tidied(before, patch, k.theirs)))
}

// change changes a few things in a document, without giving two elements of a list the same key.
func (g *generator) change(document map[string]any) {
	other := g.distinct()
	for _, name := range sortedKeys(other) {
		value := other[name]
		switch {
		case name == "apiVersion" || name == "kind":
		case g.chance(25):
			document[name] = value
		case g.chance(25):
			delete(document, name)
		default:
			old, isMap := document[name].(map[string]any)
			if new, both := value.(map[string]any); isMap && both {
				for _, below := range sortedKeys(new) {
					if g.chance(20) {
						old[below] = new[below]
					}
				}
			}
		}
	}
	walkLists(document, g.theirs, func(list []any, _ string) []any {
		if g.chance(20) {
			g.random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		}
		if len(list) > 0 && g.chance(20) {
			list = list[1:]
		}
		return list
	})
}

// FuzzDiff3: what smp makes of what was applied, what is wanted and what there is has the same effect as the peer's.
func FuzzDiff3(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, choice uint8, data []byte) {
		g := newGenerator(t, choice, data)
		// No API server has a null, and the peer's own patch fails where a list is one.
		original := withoutNulls(g.distinct()).(map[string]any)
		modified, current := runtime.DeepCopyJSON(original), runtime.DeepCopyJSON(original)
		g.change(modified)
		g.change(current)
		current = withoutNulls(current).(map[string]any)
		if g.chance(20) {
			original = nil
		}
		ours, theirs := g.three(original, modified, current)
		if again, err := smp.Diff3(modified, modified, ours.result, g.ours); err != nil || len(again) > 0 {
			t.Fatalf("a second patch isn't empty: %s, %v\noriginal %s\nmodified %s\ncurrent  %s\nresult   %s",
				text(again), err, text(original), text(modified), text(current), ours)
		}
		if !g.sameEffect(ours, theirs) {
			d := shrink([]map[string]any{original, modified, current}, func(d []map[string]any) bool {
				a, b := g.three(d[0], d[1], d[2])
				return !g.sameEffect(a, b) && a.failed() == ours.failed() && b.failed() == theirs.failed()
			})
			t.Logf("the peer, before shrinking: %.300s", theirs)
			ours, theirs = g.three(d[0], d[1], d[2])
			t.Fatalf("%s\noriginal %s\nmodified %s\ncurrent  %s\nours     %s\npeer     %s",
				g.gvk.Kind, text(d[0]), text(d[1]), text(d[2]), ours, theirs)
		}
	})
}

// sameEffect leaves aside what is listed: panics of the peer; nulls, since what is wanted to be null smp deletes, also
// where it is null already; and the order of lists that merge, since the peer sorts its input before it looks whether
// the order of scalars differs, and puts new objects where it deletes others. That the order is the wanted one is
// tested by a second patch, which has to be empty.
func (k kind) sameEffect(ours, theirs outcome) bool {
	for _, result := range []*map[string]any{&ours.result, &theirs.result} {
		*result, _ = withoutNulls(*result).(map[string]any)
		walkLists(*result, k.theirs, func(list []any, _ string) []any {
			slices.SortFunc(list, func(a, b any) int { return cmp.Compare(text(a), text(b)) })
			return list
		})
	}
	return ours.same(theirs) || theirs.panics != nil
}

func withoutNulls(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, field := range value {
			if field != nil {
				out[name] = withoutNulls(field)
			}
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = withoutNulls(element)
		}
		return out
	default:
		return value
	}
}

func (k kind) three(original, modified, current map[string]any) (ours, theirs outcome) {
	return k.our3(original, modified, current), k.peer3(original, modified, current)
}

func (k kind) our3(original, modified, current map[string]any) outcome {
	patch, err := smp.Diff3(original, modified, current, k.ours)
	if err != nil {
		return outcome{err: err}
	}
	return k.our(current, patch)
}

func (k kind) peer3(original, modified, current map[string]any) (o outcome) {
	defer func() { o.panics = recover() }()
	var documents [3][]byte
	for i, document := range []map[string]any{original, modified, current} {
		encoded, err := json.Marshal(document)
		if err != nil {
			return outcome{err: err}
		}
		documents[i] = encoded
	}
	made, err := strategicpatch.CreateThreeWayMergePatch(documents[0], documents[1], documents[2], k.theirs, true)
	if err != nil {
		return outcome{err: err}
	}
	var patch map[string]any
	if err := json.Unmarshal(made, &patch); err != nil {
		return outcome{err: err}
	}
	return k.peer(current, tidied(current, patch, k.theirs))
}
