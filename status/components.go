package status

import (
	"fmt"
	"maps"
	"slices"
)

// ComponentState is the progress of a rollout, by the names of its components. Order and repetition don't matter. The
// zero value is a rollout without components.
type ComponentState struct {
	// All names every component. Components in other fields may be left out here.
	All []string
	// Verified components are deployed and ready. Unverified components are deployed and not ready. Failed components
	// had an error.
	Verified, Unverified, Failed []string
	// Disabled components are switched off, and none of their objects is left. The status lists them apart and doesn't
	// count them, even if they are in another field too.
	Disabled []string
	// Unstarted maps each component that wasn't started to the reason, which may be empty.
	Unstarted map[string]string
	// Messages maps components, in any state, to a message. Each message is shortened to 1 KiB. If all messages
	// together would exceed 256 KiB, each is shortened further, but not below 80 bytes, so that the status can be
	// stored.
	Messages map[string]string
	// Graph is the dependency graph as text. It isn't written if it is empty.
	Graph string
	// Kinds are the kinds of the components' objects, such as "apps/v1/Deployment". They are recorded so that objects
	// of a kind can be found when no component renders that kind any more. An empty list isn't written.
	Kinds []string
}

// setComponents replaces status.componentStatus. If a verdict is given without a component state, setComponents marks
// the present componentStatus as stale.
func (a Application) setComponents(next map[string]any) {
	if a.Components != nil {
		present, _ := next[componentStatusKey].(map[string]any)
		names, _ := present["allComponents"].([]any)
		next[componentStatusKey] = a.Components.document(names)
		return
	}
	if !a.hasVerdict() {
		return
	}
	if present, ok := next[componentStatusKey].(map[string]any); ok && present != nil {
		present["stale"] = true
	}
}

// role is the outcome of a component. It is a set of bits, because a name may be in several lists.
type role uint8

const (
	isVerified role = 1 << iota
	isUnverified
	isFailed
)

func (s *ComponentState) roles() map[string]role {
	roles := make(map[string]role, max(len(s.All), len(s.Verified)+len(s.Unverified)+len(s.Failed)))
	for _, part := range [...]struct {
		names []string
		is    role
	}{{s.All, 0}, {s.Verified, isVerified}, {s.Unverified, isUnverified}, {s.Failed, isFailed}} {
		for _, name := range part.names {
			roles[name] |= part.is
		}
	}
	for name := range s.Unstarted {
		roles[name] |= 0
	}
	return roles
}

// takeDisabled removes the disabled components from roles and returns their sorted names.
func (s *ComponentState) takeDisabled(roles map[string]role) []any {
	names := slices.Compact(slices.Sorted(slices.Values(s.Disabled)))
	disabled := make([]any, len(names))
	for i, name := range names {
		disabled[i] = name
		delete(roles, name)
	}
	return disabled
}

// document lists every component by its role. present holds the names in the present status, in their order.
func (s *ComponentState) document(present []any) map[string]any {
	roles := s.roles()
	disabled := s.takeDisabled(roles)
	all, each := ordered(roles, present)
	deployed, verified := make([]any, 0, len(all)), make([]any, 0, len(all))
	unverified, failed := []any{}, []any{}
	for i, name := range all {
		is := each[i]
		if is&(isVerified|isUnverified) != 0 {
			deployed = append(deployed, name)
		}
		if is&isVerified != 0 {
			verified = append(verified, name)
		}
		if is&isUnverified != 0 {
			unverified = append(unverified, name)
		}
		if is&isFailed != 0 {
			failed = append(failed, name)
		}
	}
	document := map[string]any{
		"allComponents":        all,
		"deployedComponents":   deployed,
		"verifiedComponents":   verified,
		"unverifiedComponents": unverified,
		"failedComponents":     failed,
		"unstartedComponents":  explained(s.Unstarted, "reason"),
		"deployed":             fmt.Sprintf("%d/%d", len(deployed), len(all)),
		"verified":             fmt.Sprintf("%d/%d", len(verified), len(all)),
	}
	if len(disabled) > 0 {
		document["disabledComponents"] = disabled
	}
	if len(s.Messages) > 0 {
		document["componentMessages"] = explained(s.Messages, "message")
	}
	if s.Graph != "" {
		document["dependencyGraph"] = clip(s.Graph, maxMessageLength)
	}
	if len(s.Kinds) > 0 {
		kinds := make([]any, 0, len(s.Kinds))
		for _, kind := range slices.Compact(slices.Sorted(slices.Values(s.Kinds))) {
			kinds = append(kinds, kind)
		}
		document["kinds"] = kinds
	}
	return document
}

// ordered returns the sorted names and the role of each. The names are nearly always the same as in the present status,
// which is sorted already. ordered reuses that order instead of sorting, because every reconcile calls ordered and
// there may be thousands of names.
func ordered(roles map[string]role, present []any) (names []any, each []role) {
	names, each = make([]any, 0, len(roles)), make([]role, 0, len(roles))
	last := ""
	for i, element := range present {
		name, ok := element.(string)
		if !ok || i > 0 && name <= last {
			break
		}
		last = name
		if is, known := roles[name]; known {
			names, each = append(names, element), append(each, is)
		}
	}
	if len(names) == len(roles) {
		return names, each
	}
	names, each = names[:0], each[:0]
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		names, each = append(names, name), append(each, roles[name])
	}
	return names, each
}

// total returns the length of all texts together, each shortened to maxDetailLength.
func total(texts map[string]string) int {
	sum := 0
	for _, text := range texts {
		sum += min(len(text), maxDetailLength)
	}
	return sum
}

// explained returns a list of {name, key: text}, sorted by name. An empty text is left out. A long text is shortened to
// maxDetailLength, or further if all texts would exceed maxDetailsLength.
func explained(texts map[string]string, key string) []any {
	limit := maxDetailLength
	if most := maxDetailsLength / max(1, len(texts)); most < limit && total(texts) > maxDetailsLength {
		limit = max(most, minDetailLength)
	}
	result := make([]any, 0, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		entry := map[string]any{"name": name}
		if text := texts[name]; text != "" {
			entry[key] = clip(text, limit)
		}
		result = append(result, entry)
	}
	return result
}
