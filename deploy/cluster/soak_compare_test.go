package cluster_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// state is the text of what one side holds, by object: what has to be the same on both sides.
func (s *side) state(ctx context.Context, namespace string) (map[string]string, error) {
	state := map[string]string{}
	for _, kind := range soakKinds {
		objects, err := s.contents(ctx, kind, namespace)
		if err != nil {
			return nil, err
		}
		for _, obj := range objects {
			content := essence(obj)
			if withDefaults[kind] {
				content = ownedPart(content)
			}
			text, err := yaml.Marshal(content)
			if err != nil {
				return nil, err
			}
			state[kind.Kind+" "+obj.GetName()] = string(text)
		}
	}
	return state, nil
}

// essence is the content of obj without what each cluster counts or draws by itself, and without times.
func essence(obj *unstructured.Unstructured) map[string]any {
	content := obj.DeepCopy().Object
	metadata, _ := content["metadata"].(map[string]any)
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp"} {
		delete(metadata, field)
	}
	if _, terminating := metadata["deletionTimestamp"]; terminating {
		metadata["deletionTimestamp"] = "set"
	}
	entries, _ := metadata["managedFields"].([]any)
	for _, entry := range entries {
		delete(entry.(map[string]any), "time")
	}
	slices.SortFunc(entries, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return content
}

// ownedPart are the fields of an object that our managers own, beside what it is owned and held by.
func ownedPart(content map[string]any) map[string]any {
	metadata, _ := content["metadata"].(map[string]any)
	part := map[string]any{
		"owners": metadata["ownerReferences"], "finalizers": metadata["finalizers"], "terminating": metadata["deletionTimestamp"],
	}
	entries, _ := metadata["managedFields"].([]any)
	for _, item := range entries {
		entry := item.(map[string]any)
		name, _ := entry["manager"].(string)
		if isOurs(name) {
			fields := map[string]any{}
			entryFields, _ := entry["fieldsV1"].(map[string]any)
			ownedFields(fields, "", entryFields, content)
			part[fmt.Sprintf("%s %s %v", name, entry["operation"], entry["subresource"])] = fields
		}
	}
	return part
}

// isOurs tells whether a field manager is one of ours, who write for an owner under a name made for it.
func isOurs(name string) bool {
	return slices.ContainsFunc(soakManagers, func(ours string) bool { return name == ours || strings.HasPrefix(name, ours+"-") })
}

// defaulted are fields that servers fill in, and that are whoever's who wrote the object when they did. So
// is what holds them.
var defaulted = []string{
	".", "f:type", "f:sessionAffinity", "f:internalTrafficPolicy", "f:progressDeadlineSeconds", "f:revisionHistoryLimit", "f:strategy",
	"f:dnsPolicy", "f:restartPolicy", "f:schedulerName", "f:securityContext", "f:terminationGracePeriodSeconds", "f:imagePullPolicy",
	"f:resources", "f:terminationMessagePath", "f:terminationMessagePolicy",
}

// ownedFields walks a field set and the value beside it, and notes the value at each end.
func ownedFields(found map[string]any, path string, fields map[string]any, value any) {
	for key, below := range fields {
		next, _ := below.(map[string]any)
		switch at := path + "/" + key; {
		case slices.Contains(defaulted, key):
		case len(next) == 0:
			found[at] = withoutStructures(valueAt(value, key))
		default:
			ownedFields(found, at, next, valueAt(value, key))
		}
	}
}

// withoutStructures is a value, or that there is one which may hold fields of others: of a list whose items
// others own too its place alone may be left to a manager.
func withoutStructures(value any) any {
	list, _ := value.([]any)
	if slices.ContainsFunc(list, func(item any) bool { _, isMap := item.(map[string]any); return isMap }) {
		return "structures"
	}
	return value
}

// valueAt is the value to which a key of a field set leads.
func valueAt(value any, key string) any {
	kind, text, _ := strings.Cut(key, ":")
	if kind == "f" {
		content, _ := value.(map[string]any)
		return content[text]
	}
	list, _ := value.([]any)
	var wanted any
	if err := json.Unmarshal([]byte(text), &wanted); err != nil {
		return err.Error()
	}
	for _, item := range list {
		if holds(item, wanted) || fmt.Sprint(item) == fmt.Sprint(wanted) || hasKeys(item, wanted) {
			return item
		}
	}
	return "absent"
}

// hasKeys tells whether a list's item has the values of a key.
func hasKeys(item, key any) bool {
	content, _ := item.(map[string]any)
	wanted, isMap := key.(map[string]any)
	for name, value := range wanted {
		if fmt.Sprint(content[name]) != fmt.Sprint(value) {
			return false
		}
	}
	return isMap
}

// differing are the names of what isn't the same in two states, ascending.
func differing(a, b map[string]string) []string {
	names := maps.Clone(a)
	maps.Copy(names, b)
	maps.DeleteFunc(names, func(name, _ string) bool { return a[name] == b[name] })
	return slices.Sorted(maps.Keys(names))
}

// kindOf says which error it is, with the contested fields: texts differ between the two.
func kindOf(err error) string {
	if err == nil {
		return ""
	}
	var conflict *deploy.ConflictError
	if errors.As(err, &conflict) {
		return fmt.Sprintf("conflict over %v fought=%v", contested(conflict.Fields), conflict.Fought)
	}
	for _, kind := range []struct {
		name   string
		target any
	}{
		{"invalid manifest", new(*deploy.InvalidManifestError)}, {"kind unknown", new(*deploy.KindUnknownError)},
		{"exists already", new(*deploy.AlreadyExistsError)}, {"stale", new(*deploy.StaleError)}, {"invalid", new(*deploy.InvalidError)},
		{"unavailable", new(*deploy.UnavailableError)}, {"owned", new(*deploy.OwnedError)}, {"terminating", new(*deploy.TerminatingError)},
		{"not found", new(*deploy.NotFoundError)}, {"timeout", new(*deploy.TimeoutError)}, {"invalid set", new(*deploy.InvalidSetError)},
		{"forbidden", new(*deploy.ForbiddenError)},
	} {
		if errors.As(err, kind.target) {
			return kind.name
		}
	}
	return "other: " + err.Error()
}

func contested(fields []deploy.FieldConflict) []string {
	names := make([]string, len(fields))
	for i, field := range fields {
		names[i] = field.Field + " of " + field.Manager
	}
	slices.Sort(names)
	return names
}
