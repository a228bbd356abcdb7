package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/operkit/operkit/smp"
)

// outcome is what one side makes of a patch.
type outcome struct {
	result map[string]any
	err    error
	panics any
}

func (o outcome) String() string {
	switch {
	case o.panics != nil:
		return fmt.Sprint("panic: ", o.panics)
	case o.err != nil:
		return "error: " + o.err.Error()
	default:
		return text(o.result)
	}
}

func text(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// same compares results as JSON values. An empty list and none at all are one: the peer makes both.
func (o outcome) same(other outcome) bool {
	if o.failed() || other.failed() {
		return o.failed() && other.failed()
	}
	return reflect.DeepEqual(canonical(o.result), canonical(other.result))
}

func (o outcome) withoutNulls() outcome {
	o.result, _ = withoutNulls(o.result).(map[string]any)
	return o
}

func (o outcome) failed() bool { return o.err != nil || o.panics != nil }

func canonical(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, field := range value {
			out[name] = canonical(field)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = canonical(element)
		}
		return out
	default:
		return value
	}
}

func (k kind) peer(document, patch map[string]any) outcome {
	return peerMerge(document, patch, k.theirs)
}

func peerMerge(document, patch map[string]any, schema strategicpatch.LookupPatchMeta) (o outcome) {
	defer func() { o.panics = recover() }()
	result, err := strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(
		runtime.DeepCopyJSON(document), runtime.DeepCopyJSON(patch), schema)
	return outcome{result: result, err: err}
}

func (k kind) our(document, patch map[string]any, opts ...smp.Option) outcome {
	result, err := smp.Strategic(document, patch, k.ours, append(opts, smp.AllowIdentityChange())...)
	return outcome{result: result, err: err}
}

// compare says why what smp makes of a patch is right: that it is what the peer makes of it, or the rule by which it
// isn't. It is empty for a finding.
func (k kind) compare(document, patch map[string]any) string {
	ours := k.our(document, patch)
	if rule := k.refusal(document, patch, ours); rule != "" {
		return rule
	}
	// What the peer makes of several directives about one field depends on the order in which it meets them.
	for range 20 {
		if rule := k.agreement(document, patch, ours); rule != "" {
			return rule
		}
	}
	return ""
}

// agreement compares with what the peer makes of the patch this time.
func (k kind) agreement(document, patch map[string]any, ours outcome) string {
	theirs, bare := k.peer(document, patch), k.peer(document, tidied(document, patch, k.theirs))
	switch {
	case ours.same(theirs):
		return "as the peer"
	case theirs.panics != nil || bare.panics != nil:
		return "smp panics on no input"
	case ours.same(bare):
		return "no result holds a directive, and none a null that isn't asked for"
	case replacesNew(document, patch) && ours.withoutNulls().same(bare.withoutNulls()):
		return "a new map that is marked with replace is stored literally"
	case ordersEmptily(document, patch, k.theirs) && k.sameEffect(ours, bare):
		return "an order that names nothing doesn't turn new elements round"
	case repeatsScalars(document, patch, k.theirs) && k.sameEffect(ours, bare):
		return "that a value of a set is there twice doesn't turn the others round"
	default:
		return ""
	}
}

// refusal says by which rule smp refuses what the peer may take.
func (k kind) refusal(document, patch map[string]any, ours outcome) string {
	switch kind := smp.KindOf(ours.err); {
	case ours.err == nil:
		return ""
	case kind == smp.UnknownType && (document["kind"] != k.gvk.Kind || document["apiVersion"] != k.gvk.GroupVersion().String()):
		return "a schema isn't for documents of another kind"
	case kind == smp.Invalid && marksReplaced(document, patch, k.theirs):
		return "a mark in an element of a list that is replaced as a whole is refused, not stored"
	case kind == smp.Invalid && marksReplacedMap(document, patch, k.theirs):
		return "an unknown mark of a map that is replaced as a whole is refused, not stored"
	case kind == smp.Invalid && removesObjects(document, patch, k.theirs):
		return "objects are deleted by marks, not by $deleteFromPrimitiveList"
	case kind == smp.Invalid && retainsNameless(patch):
		return "the fields to keep are listed by their names"
	case kind == smp.UnknownField && misfits(document, patch, k.ours):
		return "nothing merges into a field whose type is neither a map nor a list"
	case keyless(document, patch, k.theirs):
		return "a key that is null, a list or an object is none"
	case mixed(document, patch, k.theirs):
		return "the elements of an order are of one type with those of the list"
	default:
		return ""
	}
}

func FuzzStrategic(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, choice uint8, data []byte) {
		g := newGenerator(t, choice, data)
		document := g.object()
		if g.chance(20) {
			g.damage(document)
		}
		patch := g.patch(document)
		before, patchBefore := runtime.DeepCopyJSON(document), runtime.DeepCopyJSON(patch)

		ours := g.our(document, patch)
		if !reflect.DeepEqual(before, document) || !reflect.DeepEqual(patchBefore, patch) {
			t.Fatal("an input was changed")
		}
		if holdsDirective(ours.result) && !holdsDirective(document) {
			t.Fatalf("the result holds a directive: %s", ours)
		}
		if shared := g.our(document, patch, smp.Shared()); !reflect.DeepEqual(shared.result, ours.result) {
			t.Fatalf("shared:   %s\ndetached: %s", shared, ours)
		}
		if known := g.compare(document, patch); known == "" {
			shrunk := shrink([]map[string]any{document, patch}, func(d []map[string]any) bool { return g.compare(d[0], d[1]) == "" })
			document, patch = shrunk[0], shrunk[1]
			t.Fatalf("%s\ndocument %s\npatch    %s\nours     %s\npeer     %s",
				g.gvk.Kind, text(document), text(patch), g.our(document, patch), g.peer(document, patch))
		}
	})
}
