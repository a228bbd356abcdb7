package status

import (
	"fmt"
	"maps"
	"slices"
)

// ComponentState is how far a rollout got, by the names of its components. Order and repetition don't matter. The zero
// value is a rollout without components.
type ComponentState struct {
	// All names every component. Those of the other fields need not be in it.
	All []string
	// Verified ones are deployed and ready, Unverified ones only deployed; Failed ones had an error.
	Verified, Unverified, Failed []string
	// Unstarted has the components that weren't begun, with the reason, which may be empty.
	Unstarted map[string]string
	// Messages are about single components, whatever their state. Each is shortened to 1 KiB, and many long ones to 256
	// KiB in all or 80 bytes each, so that the status can be stored.
	Messages map[string]string
	// Graph is the dependency graph as text, left out when empty.
	Graph string
	// Kinds are the kinds of the objects that the components consist of, such as "apps/v1/Deployment", so that objects
	// of a kind are found when nothing renders it any more. Left out when empty.
	Kinds []string
}

// setComponents replaces status.componentStatus, or marks a present one as
// stale when a verdict comes without a state.
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

// role is what a component is in a rollout, as bits, since a name may be given twice.
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

// document lists every component by what it is. present are the names in the
// present status.
func (s *ComponentState) document(present []any) map[string]any {
	roles := s.roles()
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

// ordered lists the names in their order, and what each is. The components of a
// rollout are nearly always those of the present status, which are in order
// already; there may be thousands, and this is done with every reconcile.
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

// total is how long the texts are together.
func total(texts map[string]string) int {
	sum := 0
	for _, text := range texts {
		sum += min(len(text), maxDetailLength)
	}
	return sum
}

// explained lists {name, key: text} by name; an empty text is left out. Long
// ones are shortened, and more so when there are very many of them.
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
