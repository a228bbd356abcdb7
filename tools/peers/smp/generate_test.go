package main

import (
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/randfill"
	"sigs.k8s.io/randfill/bytesource"

	"github.com/operkit/operkit/smp"
)

// kind is one of the kinds that documents are made of.
type kind struct {
	gvk    kschema.GroupVersionKind
	empty  func() any
	ours   smp.Schema
	theirs strategicpatch.PatchMetaFromStruct
}

var kinds = func() []kind {
	core := func(name string) kschema.GroupVersionKind { return corev1.SchemeGroupVersion.WithKind(name) }
	all := []kind{
		{gvk: core("Pod"), empty: func() any { return new(corev1.Pod) }},
		{gvk: appsv1.SchemeGroupVersion.WithKind("Deployment"), empty: func() any { return new(appsv1.Deployment) }},
		{gvk: core("Service"), empty: func() any { return new(corev1.Service) }},
		{gvk: core("Node"), empty: func() any { return new(corev1.Node) }},
		{gvk: policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"), empty: func() any { return new(policyv1.PodDisruptionBudget) }},
		{gvk: core("PersistentVolumeClaim"), empty: func() any { return new(corev1.PersistentVolumeClaim) }},
	}
	for i := range all {
		all[i].ours = smp.SchemaFor(all[i].gvk)
		all[i].theirs = strategicpatch.PatchMetaFromStruct{T: strategicpatch.GetTagStructTypeOrDie(all[i].empty())}
	}
	return all
}()

// addSeeds gives each kind a few seeds.
func addSeeds(f *testing.F) {
	for choice := range uint8(len(kinds)) {
		for seed := range 30 {
			f.Add(choice, []byte{0, 0, 0, 0, 0, 0, choice, byte(seed)})
		}
	}
}

// generator makes documents and patches of the bytes of a fuzzer.
type generator struct {
	t *testing.T
	kind
	random *rand.Rand
	filler *randfill.Filler
}

func newGenerator(t *testing.T, choice uint8, data []byte) *generator {
	source := bytesource.New(data)
	g := &generator{t: t, kind: kinds[int(choice)%len(kinds)], random: rand.New(source)}
	g.filler = randfill.New().RandSource(source).NilChance(0.7).NumElements(0, 4).MaxDepth(14).Funcs(
		func(s *string, c randfill.Continue) { *s = string(rune('a' + c.Intn(5))) },
		func(i *int32, c randfill.Continue) { *i = int32(80 + c.Intn(4)) },
		func(i *int64, c randfill.Continue) { *i = int64(c.Intn(4)) },
		func(b *[]byte, c randfill.Continue) { *b = []byte{byte('a' + c.Intn(3))} },
		func(t *metav1.Time, c randfill.Continue) { t.Time = time.Unix(1_700_000_000+int64(c.Intn(4)), 0) },
		func(t *metav1.MicroTime, c randfill.Continue) { t.Time = time.Unix(1_700_000_000+int64(c.Intn(4)), 0) },
		func(i *intstr.IntOrString, c randfill.Continue) {
			*i = intstr.FromInt32(int32(c.Intn(3)))
			if c.Bool() {
				*i = intstr.FromString("25%")
			}
		},
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewQuantity(int64(c.Intn(4))<<30, resource.BinarySI)
		},
		func(f *metav1.FieldsV1, c randfill.Continue) { f.SetRawBytes([]byte(`{"f:a":{}}`)) },
	)
	return g
}

func (g *generator) chance(percent int) bool { return g.random.Intn(100) < percent }

// object is a random object of the kind. Elements of lists may have the same keys, as far as the types allow.
func (g *generator) object() map[string]any {
	typed := g.empty()
	g.filler.Fill(typed)
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		g.t.Fatal(err)
	}
	object = letters(object).(map[string]any)
	object["apiVersion"], object["kind"] = g.gvk.GroupVersion().String(), g.gvk.Kind
	return object
}

// letters makes letters of the strings that named types of strings are filled with, so that keys meet.
func letters(value any) any {
	foreign := func(text string) bool {
		return strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
	}
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, field := range value {
			if !foreign(name) {
				out[name] = letters(field)
			}
		}
		return out
	case []any:
		for i, element := range value {
			value[i] = letters(element)
		}
	case string:
		if foreign(value) {
			return string(rune('a' + len(value)%5))
		}
	}
	return value
}

// distinct is a random object without elements that lack their key, and without two of a list with the same: the peer
// can't tell the difference of such.
func (g *generator) distinct() map[string]any {
	object := g.object()
	walkLists(object, g.theirs, func(list []any, key string) []any {
		seen := map[any]bool{}
		kept := make([]any, 0, len(list))
		for _, element := range list {
			id := element
			if fields, isMap := element.(map[string]any); isMap {
				id = fields[key]
			}
			if id != nil && !seen[id] {
				kept = append(kept, element)
			}
			seen[id] = true
		}
		return kept
	})
	return object
}

// walkLists exchanges every list that merges, from the inside out.
func walkLists(object map[string]any, schema strategicpatch.LookupPatchMeta, exchange func(list []any, key string) []any) {
	for _, name := range sortedKeys(object) {
		switch value := object[name].(type) {
		case map[string]any:
			if below, _, err := schema.LookupPatchMetadataForStruct(name); err == nil {
				walkLists(value, below, exchange)
			}
		case []any:
			below, meta, err := schema.LookupPatchMetadataForSlice(name)
			if err != nil {
				continue
			}
			for _, element := range value {
				if fields, isMap := element.(map[string]any); isMap {
					walkLists(fields, below, exchange)
				}
			}
			if merges(meta) {
				object[name] = exchange(value, meta.GetPatchMergeKey())
			}
		}
	}
}

func merges(meta strategicpatch.PatchMeta) bool {
	for _, strategy := range meta.GetPatchStrategies() {
		if strategy == "merge" {
			return true
		}
	}
	return false
}

// patch is a patch that may be for the document: the difference of two other objects or of this one, or an object of
// the kind, with mistakes and directives strewn in.
func (g *generator) patch(document map[string]any) map[string]any {
	var patch map[string]any
	switch g.random.Intn(4) {
	case 0:
		patch = g.theirDifference(document, g.object())
	case 1:
		patch = g.theirDifference(g.object(), g.object())
	case 2:
		patch = g.object()
	default:
		patch = g.theirDifference(document, g.near(document))
	}
	if g.chance(70) {
		g.strew(patch, document, g.theirs)
	}
	return patch
}

// near is the document with a few fields of another one.
func (g *generator) near(document map[string]any) map[string]any {
	near := runtime.DeepCopyJSON(document)
	other := g.object()
	for _, name := range sortedKeys(other) {
		if g.chance(30) {
			near[name] = other[name]
		}
	}
	return near
}

// theirDifference is the peer's patch, or nothing where it can't make one.
func (g *generator) theirDifference(before, after map[string]any) (patch map[string]any) {
	defer func() {
		if recover() != nil {
			patch = map[string]any{}
		}
	}()
	made, err := strategicpatch.CreateTwoWayMergeMapPatchUsingLookupPatchMeta(
		runtime.DeepCopyJSON(before), runtime.DeepCopyJSON(after), g.theirs)
	if err != nil {
		return map[string]any{}
	}
	return runtime.DeepCopyJSON(made)
}

// strew puts nulls, directives and mistakes into a patch.
func (g *generator) strew(patch, document map[string]any, schema strategicpatch.LookupPatchMeta) {
	for _, name := range sortedKeys(patch) {
		inDocument, _ := document[name].(map[string]any)
		switch value := patch[name].(type) {
		case map[string]any:
			if below, _, err := schema.LookupPatchMetadataForStruct(name); err == nil {
				g.strew(value, inDocument, below)
			}
		case []any:
			if below, meta, err := schema.LookupPatchMetadataForSlice(name); err == nil {
				patch[name] = g.strewList(value, document[name], below, meta)
			}
		}
		if g.chance(3) {
			patch[name] = g.oddity()
		}
	}
	g.direct(patch, document, schema)
}

func (g *generator) strewList(list []any, inDocument any, below strategicpatch.LookupPatchMeta, meta strategicpatch.PatchMeta) []any {
	live, _ := inDocument.([]any)
	for i, element := range list {
		fields, isMap := element.(map[string]any)
		if !isMap {
			continue
		}
		var counterpart map[string]any
		if i < len(live) {
			counterpart, _ = live[i].(map[string]any)
		}
		g.strew(fields, counterpart, below)
		if g.chance(6) {
			fields["$patch"] = g.mark()
		}
		if key := meta.GetPatchMergeKey(); key != "" && g.chance(2) {
			delete(fields, key)
		}
	}
	if len(list) > 1 && g.chance(10) {
		g.random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	if len(list) > 0 && g.chance(2) {
		list = append(list, g.oddity())
	}
	return list
}

// direct adds directives to a map of a patch.
func (g *generator) direct(patch, document map[string]any, schema strategicpatch.LookupPatchMeta) {
	if g.chance(3) {
		patch["$patch"] = g.mark()
	}
	if g.chance(3) {
		keys := []any{}
		for _, name := range sortedKeys(patch) {
			if !strings.HasPrefix(name, "$") && g.chance(95) {
				keys = append(keys, name)
			}
		}
		patch["$retainKeys"] = keys
	}
	if g.chance(2) {
		patch[string(rune('x'+g.random.Intn(2)))] = g.oddity()
	}
	for _, name := range sortedKeys(document) {
		list, isList := document[name].([]any)
		if !isList || !g.chance(15) {
			continue
		}
		_, meta, err := schema.LookupPatchMetadataForSlice(name)
		if err != nil {
			continue
		}
		g.directList(patch, name, list, meta.GetPatchMergeKey())
	}
}

// directList adds directives about a list.
func (g *generator) directList(patch map[string]any, name string, list []any, key string) {
	own, _ := patch[name].([]any)
	var order, remove []any
	for _, element := range append(append([]any{}, own...), list...) {
		fields, isMap := element.(map[string]any)
		switch {
		case isMap && fields[key] != nil:
			order = append(order, map[string]any{key: fields[key]})
		case !isMap:
			order = append(order, element)
			if g.chance(40) {
				remove = append(remove, element)
			}
		}
	}
	if g.chance(30) {
		g.random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	if order == nil {
		order = []any{}
	}
	if g.chance(80) {
		patch["$setElementOrder/"+name] = order
	}
	if remove != nil {
		patch["$deleteFromPrimitiveList/"+name] = remove
	}
	if g.chance(3) {
		patch["$deleteFromPrimitiveList/"+name] = g.oddity()
	}
	if g.chance(40) {
		delete(patch, name)
	}
}

func (g *generator) mark() any {
	marks := []any{"replace", "replace", "replace", "delete", "delete", "delete", "merge", "other", nil, int64(1)}
	return marks[g.random.Intn(len(marks))]
}

// oddity is a value that likely is of another type than what the field has.
func (g *generator) oddity() any {
	oddities := []any{
		nil, nil, "a", int64(1), true, 1.5, map[string]any{}, []any{}, map[string]any{"a": "b", "c": nil},
		[]any{"a", "b"}, []any{map[string]any{"name": "a", "x": nil}}, []any{"a", int64(1)}, []any{nil}, []any{[]any{"a"}},
	}
	return runtime.DeepCopyJSONValue(oddities[g.random.Intn(len(oddities))])
}

// damage makes a document what no API server would give.
func (g *generator) damage(document map[string]any) {
	for _, name := range sortedKeys(document) {
		switch value := document[name].(type) {
		case map[string]any:
			g.damage(value)
		case []any:
			for _, element := range value {
				if fields, isMap := element.(map[string]any); isMap {
					g.damage(fields)
				}
			}
			if len(value) > 0 && g.chance(4) {
				document[name] = append(value, value[g.random.Intn(len(value))])
			}
		}
		if g.chance(2) {
			document[name] = g.oddity()
		}
	}
}

func sortedKeys(object map[string]any) []string {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
