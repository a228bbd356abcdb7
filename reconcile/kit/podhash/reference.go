package podhash

import (
	"cmp"
	"maps"
	"slices"

	"github.com/operkit/operkit/reconcile/kit/internal/podtemplate"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The kinds of objects that Pods read.
const (
	Secret    = "Secret"
	ConfigMap = "ConfigMap"
)

// Reference is a Secret or a ConfigMap that Pods read. It is in the namespace of the Pods.
type Reference struct {
	// Kind is Secret or ConfigMap.
	Kind string
	// Name is the name of the object.
	Name string
	// Keys are the keys that are read, in order. nil means all keys, also those that are added later.
	Keys []string
	// Optional means that the Pods start without the object.
	Optional bool
}

// String returns the kind and the name, as in "Secret/password".
func (r Reference) String() string { return r.Kind + "/" + r.Name }

// References returns what the Pods of obj read, each object once, in the order of kinds and names. It looks at all
// containers, init containers and ephemeral containers (env and envFrom) and at volumes (secret, configMap, projected,
// and the nodePublishSecretRef of csi). Image pull secrets aren't included, because running Pods don't use them.
// References doesn't change obj. Parts of another form than the API has are ignored. For an object without Pods it
// returns nil.
func References(obj *unstructured.Unstructured) []Reference {
	template, _, _ := podtemplate.Find(obj)
	spec := asMap(template["spec"])
	found := finder{}
	for _, field := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for _, container := range asMaps(spec[field]) {
			found.container(container)
		}
	}
	for _, volume := range asMaps(spec["volumes"]) {
		found.volume(volume)
	}
	return found.all()
}

// finder collects references, by kind and name.
type finder map[[2]string]*Reference

func (f finder) container(container map[string]any) {
	for _, variable := range asMaps(container["env"]) {
		from := asMap(variable["valueFrom"])
		for field, kind := range map[string]string{"secretKeyRef": Secret, "configMapKeyRef": ConfigMap} {
			ref := asMap(from[field])
			f.add(kind, ref["name"], []string{asText(ref["key"])}, ref["optional"])
		}
	}
	for _, from := range asMaps(container["envFrom"]) {
		for field, kind := range map[string]string{"secretRef": Secret, "configMapRef": ConfigMap} {
			ref := asMap(from[field])
			f.add(kind, ref["name"], nil, ref["optional"])
		}
	}
}

func (f finder) volume(volume map[string]any) {
	secret := asMap(volume["secret"])
	f.add(Secret, secret["secretName"], items(secret), secret["optional"])
	configMap := asMap(volume["configMap"])
	f.add(ConfigMap, configMap["name"], items(configMap), configMap["optional"])
	for _, source := range asMaps(asMap(volume["projected"])["sources"]) {
		for field, kind := range map[string]string{"secret": Secret, "configMap": ConfigMap} {
			projection := asMap(source[field])
			f.add(kind, projection["name"], items(projection), projection["optional"])
		}
	}
	f.add(Secret, asMap(asMap(volume["csi"])["nodePublishSecretRef"])["name"], nil, false)
}

// items returns the keys of a volume's items, nil if there are none: then the volume has all keys.
func items(volume map[string]any) (keys []string) {
	for _, item := range asMaps(volume["items"]) {
		keys = append(keys, asText(item["key"]))
	}
	return keys
}

// add adds a reference. Nothing is added without a name.
func (f finder) add(kind string, name any, keys []string, optional any) {
	id := [2]string{kind, asText(name)}
	if id[1] == "" {
		return
	}
	isOptional, _ := optional.(bool)
	known := f[id]
	if known == nil {
		f[id] = &Reference{Kind: kind, Name: id[1], Keys: ordered(keys), Optional: isOptional}
		return
	}
	known.Optional = known.Optional && isOptional
	if known.Keys == nil || keys == nil {
		known.Keys = nil
		return
	}
	known.Keys = ordered(append(known.Keys, keys...))
}

func ordered(keys []string) []string {
	slices.Sort(keys)
	return slices.Compact(keys)
}

func (f finder) all() []Reference {
	var all []Reference
	for _, id := range slices.SortedFunc(maps.Keys(f), func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	}) {
		all = append(all, *f[id])
	}
	return all
}

// asMap returns value if it is a map, otherwise nil.
func asMap(value any) map[string]any {
	m, _ := value.(map[string]any)
	return m
}

// asMaps returns the maps of a list, without its other items.
func asMaps(value any) (found []map[string]any) {
	list, _ := value.([]any)
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			found = append(found, m)
		}
	}
	return found
}

func asText(value any) string {
	text, _ := value.(string)
	return text
}
