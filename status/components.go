package status

import (
	"fmt"
	"maps"
	"slices"
)

// ComponentState tells how far a rollout got, by the names of its components.
// Order and repetition don't matter. The zero value is a rollout without any.
type ComponentState struct {
	// All names every component. Those of the other fields need not be in it.
	All []string
	// Verified ones are deployed and ready, Unverified ones deployed only,
	// Failed ones met an error.
	Verified, Unverified, Failed []string
	// Unstarted gives for each component that wasn't begun the reason, which
	// may be empty.
	Unstarted map[string]string
	// Messages says something about single components, whatever their state.
	Messages map[string]string
	// Graph is the dependency graph as text, left out when empty.
	Graph string
}

// setComponents replaces status.componentStatus, or marks a present one as
// stale when a verdict comes without a state.
//
// spec: status 5
func (a Application) setComponents(next map[string]any) {
	if a.Components != nil {
		next[componentStatusKey] = a.Components.document()
		return
	}
	if !a.gives() {
		return
	}
	if present, ok := next[componentStatusKey].(map[string]any); ok && present != nil {
		present["stale"] = true
	}
}

func (s *ComponentState) document() map[string]any {
	unstarted := slices.Collect(maps.Keys(s.Unstarted))
	deployed := sortedUnion(s.Verified, s.Unverified)
	verified := sortedUnion(s.Verified)
	all := sortedUnion(s.All, deployed, s.Failed, unstarted)
	document := map[string]any{
		"allComponents":        all,
		"deployedComponents":   deployed,
		"verifiedComponents":   verified,
		"unverifiedComponents": sortedUnion(s.Unverified),
		"failedComponents":     sortedUnion(s.Failed),
		"unstartedComponents":  explained(s.Unstarted, "reason"),
	}
	for key, names := range document {
		if names, ok := names.([]string); ok {
			document[key] = anys(names)
		}
	}
	document["deployed"] = fmt.Sprintf("%d/%d", len(deployed), len(all))
	document["verified"] = fmt.Sprintf("%d/%d", len(verified), len(all))
	if len(s.Messages) > 0 {
		document["componentMessages"] = explained(s.Messages, "message")
	}
	if s.Graph != "" {
		document["dependencyGraph"] = clip(s.Graph, MaxMessageLength)
	}
	return document
}

// sortedUnion never answers nil, and never the caller's own slice.
func sortedUnion(names ...[]string) []string {
	union := slices.Concat(names...)
	slices.Sort(union)
	return slices.Compact(union)
}

func anys(names []string) []any {
	result := make([]any, len(names))
	for i, name := range names {
		result[i] = name
	}
	return result
}

// explained lists {name, key: text} by name; an empty text is left out.
func explained(texts map[string]string, key string) []any {
	result := make([]any, 0, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		entry := map[string]any{"name": name}
		if text := texts[name]; text != "" {
			entry[key] = clip(text, maxDetailLength)
		}
		result = append(result, entry)
	}
	return result
}
