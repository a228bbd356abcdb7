package deploy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// ConflictPolicy decides what happens with a contested field: a field of the intent that another manager owns with
// another value.
type ConflictPolicy int

// The policies for contested fields.
const (
	// ForceOwn is the default. It takes the field back on objects that this manager has applied before or has just
	// adopted. On all other objects it is like Fail.
	ForceOwn ConflictPolicy = iota
	// Force takes the field over on every object.
	Force
	// Keep leaves the field out of the apply while the other manager owns it.
	Keep
	// Fail doesn't change the object. The result is Conflicted, with a *ConflictError.
	Fail
)

// Conflicts sets the policy for contested fields: for all of them, or for the given fields and the fields below them.
// Fields are paths as in FieldConflict, such as ".spec.replicas". If several paths match a field, the longest path
// decides, and among equal paths the last one. With every policy, fields that a scaler set through the scale
// subresource are left to the scaler, and each field that was taken over is in Result.Taken. A field that was taken
// from the same manager three times in ten minutes is left to that manager from then on, and the object is Conflicted.
// If another process with the same manager name replaces the whole intent of an object as often, the object is written
// at most once a minute from then on, see ConflictError.SameManager.
func Conflicts(policy ConflictPolicy, fields ...string) Option {
	return func(s *settings) {
		rules := s.conflicts[:len(s.conflicts):len(s.conflicts)]
		if len(fields) == 0 {
			rules = append(rules, conflictRule{policy: policy})
		}
		for _, field := range fields {
			rules = append(rules, conflictRule{field: field, policy: policy})
		}
		s.conflicts = rules
	}
}

type conflictRule struct {
	field  string
	policy ConflictPolicy
}

func (r conflictRule) holdsFor(field string) bool {
	rest, below := strings.CutPrefix(field, r.field)
	return below && (rest == "" || r.field == "" || rest[0] == '.' || rest[0] == '[')
}

// conflictPolicy returns the policy for a contested field of an object. ours reports whether the manager may take back
// fields of the object.
func (s settings) conflictPolicy(field string, ours bool) ConflictPolicy {
	if s.isMark(field) {
		return Force // only this manager uses the field, and the owner of the object has been checked before
	}
	policy, length := ForceOwn, -1
	for _, rule := range s.conflicts {
		if len(rule.field) >= length && rule.holdsFor(field) {
			policy, length = rule.policy, len(rule.field)
		}
	}
	if policy == ForceOwn && ours {
		return Force
	}
	if policy == ForceOwn {
		return Fail
	}
	return policy
}

// takesBack reports whether ForceOwn may take back fields of live.
func (s settings) takesBack(live *unstructured.Unstructured) bool {
	_, applied := live.GetAnnotations()[s.hashKey()]
	return applied || s.owner != nil
}

// decision holds how the contested fields of one object are treated.
type decision struct {
	// wanted is the intent without the fields that are kept.
	wanted *unstructured.Unstructured
	taken  []FieldConflict
	kept   []FieldConflict
	// refused are the fields with the policy Fail. If there are any, nothing is applied. fought are the fields that
	// were taken over too often.
	refused, fought []FieldConflict
}

// contested reports whether another manager owns a field of the intent with another value.
func (s decision) contested() bool {
	return len(s.taken)+len(s.kept)+len(s.refused)+len(s.fought) > 0
}

// onlyTakes reports whether all contested fields will be taken over.
func (s decision) onlyTakes() bool {
	return len(s.taken) > 0 && len(s.kept)+len(s.refused)+len(s.fought) == 0
}

// decide applies the policies to the contested fields of wanted. lost is explained at contestedFields.
func (m *Manager) decide(s settings, wanted, live *unstructured.Unstructured, lost bool) decision {
	ours := s.takesBack(live)
	out := decision{wanted: wanted}
	var left [][]string
	for _, c := range contestedFields(wanted.Object, live, s.fieldManager, lost) {
		policy := s.conflictPolicy(c.Field, ours || s.isPredecessor(c.Manager))
		if policy == Force && m.memory.fights.tooOften(live.GetUID(), c.FieldConflict) {
			out.fought = append(out.fought, c.FieldConflict)
			policy = Keep
		} else if policy == Keep {
			out.kept = append(out.kept, c.FieldConflict)
		}
		switch policy {
		case Force:
			out.taken = append(out.taken, c.FieldConflict)
		case Keep:
			left = append(left, c.keys)
		default:
			out.refused = append(out.refused, c.FieldConflict)
		}
	}
	out.wanted = &unstructured.Unstructured{Object: withoutKeys(wanted.Object, left...)}
	return out
}

// withoutKeys returns content without the fields at paths. A path consists of keys of a field set. withoutKeys also
// removes maps that become empty, because an apply of an empty map would own the map itself. It doesn't change content.
// If there are no paths, it returns content.
func withoutKeys(content map[string]any, paths ...[]string) map[string]any {
	if len(paths) == 0 {
		return content
	}
	gone := fieldSet{}
	for _, keys := range paths {
		gone = gone.with(keys)
	}
	out := runtime.DeepCopyJSON(content)
	withoutFields(out, gone, nil)
	return out
}

// contestedField is a field of an intent that another manager owns with another value.
type contestedField struct {
	FieldConflict
	// keys are the path of the field, as keys of a field set.
	keys []string
}

// claim holds the fields that one entry of managedFields owns at a path.
type claim struct {
	manager string
	fields  fieldSet
	// all is set if the object has no managedFields: then the claim is for all fields of the object.
	all bool
	// ours is set for our own entry, which shows whether we own a path as a whole.
	ours bool
}

// unmanaged is the API server's name for the manager of an object that was written before field management.
const unmanaged = "before-first-apply"

// contestedFields returns the fields of an intent, ascending, for which the API server would report a conflict: another
// manager owns the field on live with another value. A field with several other managers is reported once for each.
// lost means that only the metadata of live is known, and that the last apply was of the same intent. Then the fields
// that the manager still owns have the intended value, and only the fields that it has lost are reported.
func contestedFields(intent map[string]any, live *unstructured.Unstructured, manager string, lost bool) []contestedField {
	var claims []claim
	for _, entry := range managedEntries(live) {
		claims = append(claims, claim{manager: entry.manager(), fields: entry.fields(), ours: entry.isApplyOf(manager)})
	}
	if len(managedEntries(live)) == 0 {
		claims = []claim{{manager: unmanaged, all: true}}
	}
	w := contest{lost: lost}
	for _, field := range slices.Sorted(maps.Keys(intent)) {
		if field != "apiVersion" && field != "kind" {
			w.enter("f:"+field, intent[field], live.Object[field], claims)
		}
	}
	return w.found
}

// contest compares an intent with the live object and with the fields that other managers own.
type contest struct {
	lost  bool
	keys  []string
	found []contestedField
}

// enter compares the values below one key.
func (w *contest) enter(key string, value, live any, claims []claim) {
	var below []claim
	for _, c := range claims {
		if _, holds := c.fields[key]; holds || c.all && live != nil {
			below = append(below, claim{c.manager, c.fields.below(key), c.all, c.ours})
		}
	}
	if !slices.ContainsFunc(below, func(c claim) bool { return !c.ours }) {
		return
	}
	w.keys = append(w.keys, key)
	w.value(value, live, below)
	w.keys = w.keys[:len(w.keys)-1]
}

func (w *contest) value(value, live any, claims []claim) {
	var inner []claim
	_, isMap := value.(map[string]any)
	granular := slices.ContainsFunc(claims, func(c claim) bool { return len(c.fields) > 0 })
	for _, c := range claims {
		switch {
		case len(c.fields) > 0 || c.all && isMap:
			inner = append(inner, c)
		case isMap && (granular || isEmptyMap(live)) || c.ours:
			// If the fields of a map are owned one by one, a claim of the map alone is no conflict: it is left over
			// from fields that its manager once owned in the map. An empty map may also be atomic. Then the cluster
			// reports the conflict.
		case w.lost && slices.ContainsFunc(claims, func(c claim) bool { return c.ours }):
		case !sameValue(value, live):
			w.report(c.manager)
		}
	}
	inner = slices.DeleteFunc(inner, func(c claim) bool {
		// If other is true, the claim has fields below a value whose type differs from the intent's. The claim is a
		// conflict if its manager owns the path itself, too.
		other := !c.all && !c.fields.isOf(value)
		if _, itself := c.fields["."]; other && itself && !c.ours {
			w.report(c.manager)
		}
		return other
	})
	switch value := value.(type) {
	case map[string]any:
		content, _ := live.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			w.enter("f:"+name, value[name], content[name], inner)
		}
	case []any:
		list, _ := live.([]any)
		for _, item := range value {
			if element, isMap := item.(map[string]any); isMap {
				w.item(element, list, inner)
			}
		}
	}
}

// item compares an element of a list that has keys. Elements of sets can't differ, so they are never compared.
func (w *contest) item(element map[string]any, list []any, claims []claim) {
	keys := map[string]listKey{}
	for _, c := range claims {
		for _, key := range c.fields.listKeys() {
			if key.fits(element) {
				keys[key.name] = key
			}
		}
	}
	// Several keys fit if the element omits a key field that the server defaults. Then it isn't clear to which item the
	// element belongs.
	if len(keys) != 1 {
		return
	}
	for name, key := range keys {
		current := key.find(list)
		w.enter(name, any(element), any(current), claims)
	}
}

func (w *contest) report(manager string) {
	field := fieldPath(w.keys)
	isKnown := func(known contestedField) bool { return known.Field == field && known.Manager == manager }
	if slices.ContainsFunc(w.found, isKnown) {
		return
	}
	w.found = append(w.found, contestedField{
		FieldConflict{Field: field, Manager: manager, Message: fmt.Sprintf("conflict with %q", manager)}, slices.Clone(w.keys),
	})
}

// fieldPath formats keys of a field set as the API server does: .spec.ports[port=80,protocol="TCP"].name.
func fieldPath(keys []string) string {
	var out strings.Builder
	for _, key := range keys {
		if name, isField := strings.CutPrefix(key, "f:"); isField {
			out.WriteString("." + name)
		} else if item, isItem := listKeyOf(key); isItem {
			text, _ := byKeys(slices.Sorted(maps.Keys(item.key)))(item.key)
			out.WriteString(text)
		} else if value, isValue := strings.CutPrefix(key, "v:"); isValue {
			out.WriteString("[=" + value + "]")
		}
	}
	return out.String()
}
