package essence

import (
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/handlers/internal/fieldpath"
)

// Rules say what the essence has. The zero value is ready for use. Rules are safe for concurrent use if nobody changes
// them.
type Rules struct {
	// Extra are the paths of fields of metadata and status that are part of the essence. A path that leads through a
	// value that is no map names no field. Fields of metadata that only the API server writes, such as
	// resourceVersion, are never part of it.
	Extra [][]string
	// Ignored are the paths of fields that aren't part of it, although they otherwise would be.
	Ignored [][]string
	// Domains are domains whose annotations aren't part of it, and Keys are single such annotations.
	Domains, Keys []string
}

// serverFields are fields of metadata that only the API server writes.
var serverFields = []string{
	"resourceVersion", "generation", "managedFields", "uid", "creationTimestamp", "deletionTimestamp",
	"deletionGracePeriodSeconds", "selfLink",
}

// Excludes returns why a field is never part of the essence, empty if it may be.
func (r Rules) Excludes(path []string) (why string) {
	switch {
	case len(path) == 0:
		return ""
	case slices.ContainsFunc(r.Ignored, func(ignored []string) bool { return fieldpath.Within(path, ignored) }):
		return "it is ignored"
	case path[0] == "apiVersion" || path[0] == "kind" || path[0] == "metadata" && len(path) > 1 && slices.Contains(serverFields, path[1]):
		return "only the API server writes it"
	case len(path) > 2 && path[0] == "metadata" && path[1] == "annotations" && r.isOwn(path[2]):
		return "it is an annotation of the operator itself"
	}
	return ""
}

// isOwn reports whether an annotation belongs to the operator.
func (r Rules) isOwn(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return slices.Contains(r.Keys, key) || slices.Contains(r.Domains, domain)
}

// Of returns the essence of an object. It shares values with the object: don't change them. Of changes nothing.
func (r Rules) Of(object map[string]any) map[string]any {
	essence := make(map[string]any, len(object))
	for key, value := range object {
		switch key {
		case "apiVersion", "kind", "metadata", "status":
		default:
			essence[key] = value
		}
	}
	metadata, _ := object["metadata"].(map[string]any)
	shown := map[string]any{}
	for _, key := range []string{"labels", "annotations"} {
		if content, _ := metadata[key].(map[string]any); len(content) > 0 {
			shown[key] = content
		}
	}
	if annotations, ok := shown["annotations"].(map[string]any); ok {
		shown["annotations"] = r.withoutMarks(annotations)
	}
	essence["metadata"] = shown
	for _, path := range r.Extra {
		r.add(essence, object, path)
	}
	return r.Clean(essence)
}

// Clean returns an essence that was stored earlier, perhaps by other rules, without what isn't part of it. It shares
// values with its argument, which it doesn't change.
func (r Rules) Clean(essence map[string]any) map[string]any {
	ignored := slices.Clone(r.Ignored)
	metadata, _ := essence["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	for key := range annotations {
		if r.isOwn(key) {
			ignored = append(ignored, []string{"metadata", "annotations", key})
		}
	}
	for _, path := range ignored {
		essence, _ = without(essence, path)
	}
	for _, path := range [][]string{{"metadata", "labels"}, {"metadata", "annotations"}, {"metadata"}, {"status"}} {
		if content, isMap := at(essence, path).(map[string]any); isMap && len(content) == 0 {
			essence, _ = without(essence, path)
		}
	}
	return essence
}

// add adds the field of an object at path.
func (r Rules) add(essence, object map[string]any, path []string) {
	value, ok := lookUp(object, path)
	if !ok || path[0] != "metadata" && path[0] != "status" {
		return // every other field is there already
	}
	if path[0] == "metadata" && len(path) > 1 && slices.Contains(serverFields, path[1]) {
		return
	}
	if len(path) == 1 && path[0] == "metadata" {
		content, isMap := value.(map[string]any)
		if !isMap {
			return
		}
		all := maps.Clone(content)
		maps.DeleteFunc(all, func(key string, _ any) bool { return slices.Contains(serverFields, key) })
		shown, _ := essence["metadata"].(map[string]any)
		delete(all, "annotations")
		maps.Copy(all, shown)
		value = all
	}
	set(essence, path, value)
}

// withoutMarks returns the annotations without those that operators keep for themselves.
func (r Rules) withoutMarks(annotations map[string]any) map[string]any {
	kept := make(map[string]any, len(annotations))
	for key, value := range annotations {
		if !isMark(key, annotations) && !slices.Contains(r.Keys, key) {
			kept[key] = value
		}
	}
	return kept
}

// Mark begins the names of the annotations that operators of this package keep on objects, after the domain.
const Mark = "operkit-handled"

const (
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
	// kopfDomain is kopf's default, and kopfMarker names the annotation by which kopf's operators mark other domains.
	kopfDomain = "kopf.zalando.org"
	kopfMarker = "/kopf-managed"
)

// isMark reports whether an operator keeps an annotation for itself.
func isMark(key string, annotations map[string]any) bool {
	domain, name, qualified := strings.Cut(key, "/")
	if !qualified {
		return false
	}
	_, ofKopf := annotations[domain+kopfMarker]
	return key == lastApplied || ofKopf || domain == kopfDomain || strings.HasSuffix(domain, "."+kopfDomain) ||
		name == Mark || strings.HasPrefix(name, Mark+".")
}
