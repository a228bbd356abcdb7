package deploy

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ConflictPolicy says what to do about a field of the intent to which another manager gave
// another value.
type ConflictPolicy int

// The policies for contested fields.
const (
	// ForceOwn, the default, takes the field back on objects that this manager has applied
	// before or has just adopted, and is Fail on all others.
	ForceOwn ConflictPolicy = iota
	// Force takes the field over.
	Force
	// Keep leaves it out of the intent for as long as the other manager holds it.
	Keep
	// Fail leaves the object as it is: Conflicted, with a *ConflictError.
	Fail
)

// Conflicts sets the policy for contested fields: for all of them, or for those given and what
// is below. Fields are paths as in FieldConflict, such as ".spec.replicas"; of several that hold for
// a field the longest decides, of equal ones the last. Whatever the policy, what a scaler set
// through the scale subresource is left to it, every field taken over is in Result.Taken, and one
// that had to be taken from the same manager three times in ten minutes is left to it from then on:
// Conflicted. An object whose whole intent another process replaces under the same manager name as often is written
// once a minute at most from then on, see ConflictError.SameManager.
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

// conflictPolicy is what holds for a contested field of an object. ours tells whether that is an
// object that this manager may take fields back on.
func (s settings) conflictPolicy(field string, ours bool) ConflictPolicy {
	if s.isMark(field) {
		return Force // nobody else has a use for it, and whose object it is has been decided before
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

// takesBack tells whether live is an object on which ForceOwn takes fields.
func (s settings) takesBack(live *unstructured.Unstructured) bool {
	_, applied := live.GetAnnotations()[s.hashKey()]
	return applied || s.owner != nil
}

// settlement is how the contested fields of one object are dealt with.
type settlement struct {
	// wanted is the intent without what is kept.
	wanted *unstructured.Unstructured
	taken  []FieldConflict
	kept   []FieldConflict
	// refused are those that stand in the way of the apply, fought those that were taken too often.
	refused, fought []FieldConflict
}

// contested tells whether there is anything that others hold.
func (s settlement) contested() bool {
	return len(s.taken)+len(s.kept)+len(s.refused)+len(s.fought) > 0
}

// onlyTakes tells whether whatever others hold is to be taken from them.
func (s settlement) onlyTakes() bool {
	return len(s.taken) > 0 && len(s.kept)+len(s.refused)+len(s.fought) == 0
}

// settle decides about the fields of wanted that others hold on live, see contestedFields.
func (m *Manager) settle(s settings, wanted, live *unstructured.Unstructured, lost bool) settlement {
	ours := s.takesBack(live)
	out := settlement{wanted: wanted}
	content := wanted.Object
	for _, c := range contestedFields(wanted.Object, live, s.fieldManager, lost) {
		policy := s.conflictPolicy(c.Field, ours || s.isPredecessor(c.Manager))
		if policy == Force && m.takeovers.tooOften(live.GetUID(), c.FieldConflict) {
			out.fought = append(out.fought, c.FieldConflict)
			policy = Keep
		} else if policy == Keep {
			out.kept = append(out.kept, c.FieldConflict)
		}
		switch policy {
		case Force:
			out.taken = append(out.taken, c.FieldConflict)
		case Keep:
			content = withoutKeys(content, c.keys)
		default:
			out.refused = append(out.refused, c.FieldConflict)
		}
	}
	out.wanted = &unstructured.Unstructured{Object: content}
	return out
}

// withoutKeys copies the way to the place that keys, as of a field set, lead to, and leaves the place
// out. A map of which nothing is left goes too: it would claim the map itself.
func withoutKeys(content map[string]any, keys []string) map[string]any {
	out := make(map[string]any, len(content))
	for key, value := range content {
		out[key] = value
	}
	name := strings.TrimPrefix(keys[0], "f:")
	if len(keys) == 1 {
		delete(out, name)
		return out
	}
	switch value := out[name].(type) {
	case map[string]any:
		rest := withoutKeys(value, keys[1:])
		out[name] = rest
		if len(rest) == 0 {
			delete(out, name)
		}
	case []any:
		out[name] = withoutInItem(value, keys[1:])
	}
	return out
}

// withoutInItem does that within the item that the first key names. The item itself stays: with
// its keys it is somebody's, and what is left of it is ours.
func withoutInItem(list []any, keys []string) []any {
	out := append([]any(nil), list...)
	for i, item := range out {
		element, isMap := item.(map[string]any)
		if key, ok := listKeyOf(keys[0]); ok && isMap && len(keys) > 1 && key.fits(element) {
			out[i] = withoutKeys(element, keys[1:])
			break
		}
	}
	return out
}
