package smp

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/schema"
)

// oper8Schema is the schema by the kind alone, as oper8 looks it up: most recorded resources have no apiVersion.
func oper8Schema(object map[string]any) Schema {
	if s := schemaOf(object); s.Known() || object["apiVersion"] != nil {
		return s
	}
	kind, _ := object["kind"].(string)
	for _, group := range []string{"", "apps", "batch", "admissionregistration.k8s.io"} {
		if s := SchemaFor(kschema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}); s.Known() {
			return s
		}
	}
	return Schema{}
}

// oper8StrategicVector holds the result against the reference, which is what counts; where that isn't what oper8 makes
// of it, a rule has to say why.
func oper8StrategicVector(t *testing.T, c vectorCase) []string {
	t.Helper()
	input := c.input(t)
	doc := input["resource"].(map[string]any)
	patch := Patch{Name: "vector", Type: StrategicMerge, Body: input["patch"]}
	if table, given := input["merge_patch_keys"].(map[string]any); given {
		got, err := patch.Apply(doc, Schema{}, AllowIdentityChange(), InMode(Oper8), MergeKeys(tableOf(table)))
		holdsMap(t, c, got, err)
		return nil
	}
	s := oper8Schema(doc)
	got, err := patch.Apply(doc, s, AllowIdentityChange())
	requireReference(t, doc, patch.Body, s, got, err)
	if c.agrees(t, got, err) {
		return nil
	}
	rules := c.oper8Rules(t, doc, patch.Body, s, got)
	requireOper8Mode(t, c, doc, patch, rules)
	return rules
}

func tableOf(table map[string]any) map[string]string {
	out := map[string]string{}
	for position, key := range table {
		out[position] = fmt.Sprint(key)
	}
	return out
}

// agrees reports whether a result is the recorded one.
func (c vectorCase) agrees(t *testing.T, got map[string]any, err error) bool {
	t.Helper()
	if c.fails() || err != nil {
		return c.fails() && err != nil
	}
	return document.Equal(parse(t, string(c.Output)), got)
}

// requireReference holds a result against what the rules say.
func requireReference(t *testing.T, doc map[string]any, body any, s Schema, got map[string]any, err error) {
	t.Helper()
	want, wantErr := doc, error(nil)
	switch body := body.(type) {
	case map[string]any:
		if len(body) > 0 {
			want, wantErr = reference(doc, body, s)
		}
	default:
		if !empty(body) {
			wantErr = errReference
		}
	}
	if wantErr != nil {
		require.Error(t, err)
		require.NotEmpty(t, KindOf(err))
		return
	}
	require.NoError(t, err)
	require.True(t, document.Equal(want, got), "want %s\ngot  %s", line(want), line(got))
}

// requireOper8Mode holds what the mode for oper8's patches makes against what was recorded, unless one of the rules is
// about something that it never does as oper8 does (spec: smp 26).
func requireOper8Mode(t *testing.T, c vectorCase, doc map[string]any, patch Patch, rules []string) {
	t.Helper()
	same := []string{"D2", "D3", "D9", "D12"}
	if doc["kind"] == "Cronjob" || doc["kind"] == "CronJob" || slices.ContainsFunc(rules, func(rule string) bool { return !slices.Contains(same, rule) }) {
		return
	}
	got, err := patch.Apply(doc, Schema{}, AllowIdentityChange(), InMode(Oper8))
	require.True(t, c.agrees(t, got, err), "smp 26: the mode Oper8 gives %s, %v\nrecorded %s", line(got), err, c.Output)
}

// oper8Rules are the rules by which a result isn't oper8's, by what the input holds.
func (c vectorCase) oper8Rules(t *testing.T, doc map[string]any, body any, s Schema, got map[string]any) []string {
	t.Helper()
	found := map[string]bool{}
	patch, isMap := body.(map[string]any)
	kind, hasKind := doc["kind"].(string)
	switch {
	case !isMap:
		found["D15"] = true
	case !hasKind:
		found["D16"] = true
	default:
		seeker{found: found, known: s.Known()}.patch(doc, patch, s.place.Type, kind, false)
	}
	if len(found) == 1 && found["D9"] {
		require.True(t, document.Equal(unordered(parse(t, string(c.Output))), unordered(got)), "D9 is about order only")
	}
	// Names of members are strings in JSON: an exception of Python about another one can't be asked for.
	if len(found) == 0 && strings.Contains(string(c.Error), `"AttributeError"`) {
		found["JSON has only names that are strings"] = true
	}
	require.NotEmpty(t, found, "no rule says why it isn't as recorded\ngot      %s\nrecorded %s", line(got), c.Output)
	return slices.Sorted(maps.Keys(found))
}

// unordered sorts every list by its text.
func unordered(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, field := range value {
			out[key] = unordered(field)
		}
		return out
	case []any:
		out := []any{}
		for _, element := range value {
			out = append(out, unordered(element))
		}
		slices.SortFunc(out, func(a, b any) int { return strings.Compare(line(a), line(b)) })
		return out
	default:
		return value
	}
}

// seeker looks in a patch for what oper8 does otherwise.
type seeker struct {
	found map[string]bool
	known bool
}

// patch looks at a map of a patch. position is as in oper8's table; fresh says that the document has nothing there.
func (s seeker) patch(live, patch map[string]any, t *schema.Type, position string, fresh bool) {
	for key, value := range patch {
		switch {
		case key == "$patch":
			s.found["D1"] = true
		case key == "$retainKeys" || strings.HasPrefix(key, "$setElementOrder"):
			s.found["D7"] = true
			s.listDirective(key)
		case strings.HasPrefix(key, "$deleteFromPrimitiveList"):
			s.found["D6"] = true
			s.listDirective(key)
		case value == nil && fresh:
			s.found["D11"] = true
		}
		place, _ := t.Field(key)
		old := live[key]
		switch value := value.(type) {
		case map[string]any:
			below, both := old.(map[string]any)
			s.patch(below, value, place.Type, position+"."+key, !both)
			if _, marked := value["$patch"]; marked && !both {
				s.found["D11"] = true
			}
		case []any:
			list, both := old.([]any)
			s.list(list, value, place, position+"."+key, !both)
		}
	}
}

// listDirective notes rule 28: nothing is known of the lists of an unknown kind.
func (s seeker) listDirective(key string) {
	if !s.known && key != "$retainKeys" {
		s.found["smp 28"] = true
	}
}

func (s seeker) list(live, patch []any, place schema.Place, position string, fresh bool) {
	merges := place.Strategy&schema.Merge != 0
	_, inTable := oper8Table[position]
	switch {
	case merges && len(place.Keys) == 0:
		s.found["D8"] = true
	case merges && !inTable:
		s.found["D12"] = true
	case !merges && inTable:
		s.found["D13"] = true
	case merges && !fresh && len(patch) > 0:
		s.found["D9"] = true
	}
	if repeats(live, place) || repeats(patch, place) {
		s.found["D10"] = true
	}
	for _, element := range patch {
		fields, isMap := element.(map[string]any)
		if !isMap {
			continue
		}
		var counterpart map[string]any
		for _, other := range live {
			a, errA := keyOf(other, place)
			if b, errB := keyOf(element, place); errA == nil && errB == nil && a == b && len(place.Keys) > 0 {
				counterpart, _ = other.(map[string]any)
			}
		}
		if mark, marked := fields["$patch"]; marked {
			s.mark(mark, counterpart != nil, fresh)
		}
		rest := maps.Clone(fields)
		delete(rest, "$patch")
		s.patch(counterpart, rest, place.Type.Elements(), position, counterpart == nil)
	}
}

func (s seeker) mark(mark any, present, fresh bool) {
	switch {
	case fresh:
		s.found["D11"] = true
	case !s.known:
		s.found["smp 28"] = true
	}
	switch {
	case mark == "replace":
		s.found["D2"] = true
	case mark == "merge":
		s.found["D3"] = true
	case mark == "delete" && !present:
		s.found["D4"] = true
	case mark != "delete":
		s.found["D5"] = true
	}
}

// oper8Table is the table as it was recorded, with its misspelt CronJob.
var oper8Table = func() map[string]string {
	table := maps.Clone(oper8Keys())
	for position, key := range oper8Keys() {
		if fields, isCronJob := strings.CutPrefix(position, "CronJob."); isCronJob {
			delete(table, position)
			table["Cronjob."+fields] = key
		}
	}
	return table
}()

func repeats(list []any, place schema.Place) bool {
	seen := map[string]bool{}
	for _, element := range list {
		id, err := keyOf(element, place)
		if len(place.Keys) > 0 && err == nil {
			if seen[id] {
				return true
			}
			seen[id] = true
		}
	}
	return false
}

// oper8ApplyVector selects from each patch of a case what is about the resource, and applies it to the result of the
// one before.
func oper8ApplyVector(t *testing.T, c vectorCase) []string {
	t.Helper()
	input := c.input(t)
	doc := input["resource"].(map[string]any)
	name := input["internal_name"].(string)
	s := oper8Schema(doc)
	got, err := applyAll(doc, name, input["patches"].([]any), s)
	if c.agrees(t, got, err) {
		return nil
	}
	var rules []string
	switch KindOf(err) {
	case Identity:
		rules = append(rules, "smp 27")
		got, err = applyAll(doc, name, input["patches"].([]any), s, AllowIdentityChange())
		if c.agrees(t, got, err) {
			return rules
		}
	case Test:
		// Python takes true for 1.
		asNumbers, err := applyAll(asNumbersOf(doc).(map[string]any), name, asNumbersOf(input["patches"]).([]any), s)
		require.NoError(t, err)
		require.True(t, document.Equal(asNumbersOf(parse(t, string(c.Output))), asNumbers))
		return []string{"smp 29"}
	case Pointer:
		require.Regexp(t, leadingZero, string(c.Input), "%v", err)
		return []string{"smp 30"}
	}
	for _, patch := range input["patches"].([]any) {
		patch := patch.(map[string]any)
		body, found, selectErr := bodyOf(patch["patch"], name)
		switch {
		case patch["patchType"] != string(StrategicMerge) && patch["patchType"] != string(JSON6902):
			require.Equal(t, Invalid, KindOf(err), "%v", err)
			rules = append(rules, "smp 5")
		case selectErr != nil:
			require.Equal(t, Invalid, KindOf(err), "%v", err)
			rules = append(rules, "W3")
		case found && patch["patchType"] == string(StrategicMerge):
			rules = append(rules, c.oper8Rules(t, doc, body, s, got)...)
		}
	}
	require.NotEmpty(t, rules, "no rule says why it isn't as recorded\ngot      %s, %v\nrecorded %s%s", line(got), err, c.Output, c.Error)
	return rules
}

var leadingZero = regexp.MustCompile(`"(path|from)": ?"[^"]*/0[0-9]`)

// applyAll applies patches; what strategic ones make is held against the reference by the other family.
func applyAll(doc map[string]any, name string, patches []any, s Schema, opts ...Option) (map[string]any, error) {
	for i, entry := range patches {
		fields := entry.(map[string]any)
		body, found, err := bodyOf(fields["patch"], name)
		if err != nil {
			return nil, err
		}
		if !found {
			body = nil
		}
		kind, _ := fields["patchType"].(string)
		doc, err = Patch{Name: fmt.Sprint(i), Type: Type(kind), Body: body}.Apply(doc, s, opts...)
		if err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// bodyOf finds what the tree of a temporary patch holds for an object, as package temporarypatch does. A list on the
// way is an error here, so that such a case shows.
func bodyOf(tree any, internalName string) (body any, found bool, err error) {
	for part := range strings.SplitSeq(internalName, ".") {
		if _, isList := tree.([]any); isList {
			return nil, false, &PatchError{Kind: Invalid, Err: fmt.Errorf("a list where %q leads on", internalName)}
		}
		level, _ := tree.(map[string]any)
		tree = level[part]
	}
	return tree, !empty(tree), nil
}

// asNumbersOf makes 1 and 0 of true and false.
func asNumbersOf(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, field := range value {
			out[key] = asNumbersOf(field)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = asNumbersOf(element)
		}
		return out
	case bool:
		if value {
			return json.Number("1")
		}
		return json.Number("0")
	default:
		return value
	}
}
