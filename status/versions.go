package status

import (
	"github.com/operkit/operkit/status/internal/condition"
)

// ReconciledVersion answers versions.reconciled of a status, empty when there
// is none or it isn't a text.
//
// spec: status 11
func ReconciledVersion(status map[string]any) string {
	return condition.Text(condition.Map(status, versionsKey), "reconciled")
}

// setVersions writes what is given and replaces what is of the wrong shape on
// the way there.
//
// spec: status 6
func (a Application) setVersions(next map[string]any) {
	if a.OperatorVersion != "" {
		next[operatorVersionKey] = a.OperatorVersion
	}
	if a.Version == "" && a.SupportedVersions == nil {
		return
	}
	versions := a.section(next, versionsKey, "status.versions")
	if a.Version != "" {
		versions["reconciled"] = a.Version
	}
	if a.SupportedVersions == nil {
		return
	}
	names := make([]any, len(a.SupportedVersions))
	for i, name := range a.SupportedVersions {
		names[i] = map[string]any{"name": name}
	}
	a.section(versions, "available", "status.versions.available")["versions"] = names
}

// removeVersions takes away what setVersions writes, but for the version of the
// operator.
func removeVersions(next map[string]any) {
	versions := condition.Map(next, versionsKey)
	if versions == nil {
		return
	}
	delete(versions, "reconciled")
	if available := condition.Map(versions, "available"); available != nil {
		if delete(available, "versions"); len(available) == 0 {
			delete(versions, "available")
		}
	}
	if len(versions) == 0 {
		delete(next, versionsKey)
	}
}

// section answers the map at a key, made when missing.
func (a Application) section(parent map[string]any, key, path string) map[string]any {
	if section := condition.Map(parent, key); section != nil {
		return section
	}
	if present := parent[key]; present != nil {
		a.warn("%s is no map but %T, it is replaced", path, present)
	}
	section := map[string]any{}
	parent[key] = section
	return section
}
