package podhash

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// oper8Annotation is the annotation that oper8 writes, whatever the domain of the operator.
const oper8Annotation = "oper8.org/dependency-hash"

// Oper8 computes the hash as oper8's components do, under oper8's annotation, so that the Pods of an operator that moves
// over from oper8 keep running. The hash is a SHA-1 of data, for Pods, Deployments, ReplicaSets and StatefulSets, and
// only of what volumes (secret, configMap) and the env of containers refer to. No other option and no annotation counts.
// Drop it in a release that restarts the Pods anyway.
func Oper8() Option { return func(h *Hasher) { h.oper8 = true } }

// annotateOper8 is Annotate for Oper8.
func annotateOper8(ctx context.Context, obj *unstructured.Unstructured, namespace string, read Read) (*unstructured.Unstructured, []Reference, error) {
	var path []string
	switch obj.GetKind() {
	case "Pod":
	case "Deployment", "ReplicaSet", "StatefulSet":
		path = []string{"spec", "template"}
	default:
		return obj, nil, nil
	}
	refs := referencesOfOper8(obj, path)
	if len(refs) == 0 {
		return obj, nil, nil
	}
	var missing []Reference
	sum := sha1.New()
	for _, ref := range refs {
		found, err := readReference(ctx, ref, namespace, read)
		if err != nil {
			return nil, nil, err
		}
		if found == nil {
			missing = append(missing, ref)
			sum.Write([]byte("{}"))
			continue
		}
		data, given := found.Object["data"]
		if !given {
			data = map[string]any{}
		}
		sum.Write([]byte(found.GetKind() + found.GetName()))
		sum.Write(appendPython(nil, data))
	}
	return annotated(obj, path, oper8Annotation, hex.EncodeToString(sum.Sum(nil))), missing, nil
}

// referencesOfOper8 returns the references that oper8 finds. The kind that is referred to first comes first, and names
// are in order.
func referencesOfOper8(obj *unstructured.Unstructured, path []string) []Reference {
	template := obj.Object
	for _, field := range path {
		template = asMap(template[field])
	}
	spec := asMap(template["spec"])
	var kinds []string
	names := map[string][]string{}
	add := func(kind string, name any) {
		if name := asText(name); name != "" {
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
			names[kind] = append(names[kind], name)
		}
	}
	for _, volume := range asMaps(spec["volumes"]) {
		add(Secret, asMap(volume["secret"])["secretName"])
		add(ConfigMap, asMap(volume["configMap"])["name"])
	}
	for _, container := range asMaps(spec["containers"]) {
		for _, variable := range asMaps(container["env"]) {
			from := asMap(variable["valueFrom"])
			add(Secret, asMap(from["secretKeyRef"])["name"])
			add(ConfigMap, asMap(from["configMapKeyRef"])["name"])
		}
	}
	var refs []Reference
	for _, kind := range kinds {
		for _, name := range ordered(names[kind]) {
			refs = append(refs, Reference{Kind: kind, Name: name})
		}
	}
	return refs
}
