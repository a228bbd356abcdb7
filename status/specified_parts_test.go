package status_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/status"
)

// specifiedParts is rules 5 to 7.
func specifiedParts(v *vector, a status.Application, kwargs, next, ready, updating object) {
	given := a.Ready != status.ReadyVerdict{} || a.Updating != status.UpdatingVerdict{}
	if a.Components != nil {
		v.because("status W10")
		next["componentStatus"] = specifiedComponents(a.Components)
	} else if present, ok := next["componentStatus"].(object); ok && given {
		v.because("status W10")
		present["stale"] = true
	}
	if kwargs["version"] == "" {
		v.because("status 6")
	}
	if a.OperatorVersion != "" {
		v.because("status W4")
		next["operatorVersion"] = a.OperatorVersion
	}
	section := func(parent object, key string) object {
		child, ok := parent[key].(object)
		if !ok {
			if parent[key] != nil {
				v.because("status W11")
			}
			child = object{}
			parent[key] = child
		}
		return child
	}
	if a.Version != "" {
		section(next, "versions")["reconciled"] = a.Version
	}
	if a.SupportedVersions != nil {
		names := []any{}
		for _, name := range a.SupportedVersions {
			names = append(names, object{"name": name})
		}
		section(section(next, "versions"), "available")["versions"] = names
	}
	specifiedService(a.Kind, next, ready, updating)
}

// specifiedService is rule 7.
func specifiedService(kind string, next, ready, updating object) {
	if kind == "" {
		return
	}
	key := strings.ToLower(kind[:1]) + kind[1:] + "Status"
	if next[key] != nil && !slices.Contains([]any{"Completed", "InProgress", "Failed"}, next[key]) {
		return
	}
	r, u := ready["reason"], updating["reason"]
	switch {
	case ready == nil || updating == nil:
		next[key] = "InProgress"
	case r == "Stable" && u == "Stable":
		next[key] = "Completed"
	case r == "Errored" || r == "ConfigError" || u == "Errored" || u == "ClusterError":
		next[key] = "Failed"
	default:
		next[key] = "InProgress"
	}
}

func specifiedComponents(s *status.ComponentState) object {
	list := func(parts ...[]string) []any {
		names := slices.Concat(parts...)
		slices.Sort(names)
		result := []any{}
		for _, name := range slices.Compact(names) {
			result = append(result, name)
		}
		return result
	}
	var unstarted []string
	explained := []any{}
	for name := range s.Unstarted {
		unstarted = append(unstarted, name)
	}
	for _, name := range list(unstarted) {
		explained = append(explained, object{"name": name})
	}
	all, deployed := list(s.Verified, s.Unverified, s.Failed, unstarted), list(s.Verified, s.Unverified)
	result := object{
		"allComponents": all, "deployedComponents": deployed, "verifiedComponents": list(s.Verified),
		"unverifiedComponents": list(s.Unverified), "failedComponents": list(s.Failed), "unstartedComponents": explained,
		"deployed": fmt.Sprintf("%d/%d", len(deployed), len(all)), "verified": fmt.Sprintf("%d/%d", len(list(s.Verified)), len(all)),
	}
	if s.Graph != "" {
		result["dependencyGraph"] = s.Graph
	}
	return result
}
