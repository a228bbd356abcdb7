package dryrun

import (
	"maps"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// apiServer is the field manager of what an API server writes by itself.
const apiServer = "kube-apiserver"

// checkDefinition says what is wrong with an object if it is a CustomResourceDefinition.
func (c *Cluster) checkDefinition(at address, obj *unstructured.Unstructured) []deploy.InvalidField {
	if at.kind != definitionKind || c.kinds.schemaless {
		return nil
	}
	defined, problems := readDefinition(obj)
	if len(problems) > 0 {
		return problems
	}
	_, problems = defined.declare(c.kinds.builtin)
	return problems
}

// define serves the kinds of a CustomResourceDefinition, in the place of what it said before.
// The lock is held.
func (k *kinds) define(obj *unstructured.Unstructured) (accepted bool) {
	defined, problems := readDefinition(obj)
	if len(problems) > 0 {
		return false
	}
	kind := defined.kind()
	if holder, taken := k.definedBy[kind]; taken && holder != obj.GetName() || k.builtin.has(kind) {
		return false
	}
	declared, problems := defined.declare(k.builtin)
	if len(problems) > 0 {
		return false
	}
	k.custom[kind], k.definedBy[kind] = declared, obj.GetName()
	return true
}

// undefine ends what a CustomResourceDefinition has declared, and returns the kind.
func (k *kinds) undefine(obj *unstructured.Unstructured) (schema.GroupKind, bool) {
	kind, known := k.defined(obj.GetName())
	if known {
		delete(k.custom, kind)
		delete(k.definedBy, kind)
	}
	return kind, known
}

// has tells whether a kind is one of Kubernetes, in whatever version.
func (b *builtins) has(kind schema.GroupKind) bool {
	for known := range maps.Keys(b.kinds) {
		if known.GroupKind() == kind {
			return true
		}
	}
	return false
}

// establish serves what a definition that was just stored declares, and says so in its
// status. The lock is held.
func (c *Cluster) establish(at address, live *unstructured.Unstructured) {
	if kind, known := c.kinds.undefine(live); known {
		c.fields.forget(kind)
	}
	next := c.established(live)
	if equality.Semantic.DeepEqual(live.Object["status"], next.Object["status"]) {
		return
	}
	if managed, err := c.attributed(live, next, apiServer, statusSubresource); err == nil {
		next = managed
	}
	c.stampManagers(live, next)
	c.store(at, live, next)
}

// established is a definition with the status that a server gives it, once its kinds are served.
func (c *Cluster) established(obj *unstructured.Unstructured) *unstructured.Unstructured {
	accepted := c.kinds.define(obj)
	next := obj.DeepCopy()
	status, ok := next.Object["status"].(map[string]any)
	if !ok {
		status = map[string]any{}
		next.Object["status"] = status
	}
	var conditions []any
	for _, kind := range []string{"NamesAccepted", "Established"} {
		conditions = append(conditions, c.condition(status, kind, accepted))
	}
	status["conditions"] = conditions
	if names, ok, _ := unstructured.NestedMap(next.Object, "spec", "names"); ok && accepted {
		status["acceptedNames"] = names
	}
	versions, _, _ := unstructured.NestedSlice(next.Object, "spec", "versions")
	for _, item := range versions {
		if version, ok := item.(map[string]any); ok && version["storage"] == true {
			status["storedVersions"] = storedVersions(status["storedVersions"], version["name"])
		}
	}
	return next
}

func storedVersions(before, version any) []any {
	known, _ := before.([]any)
	for _, item := range known {
		if item == version {
			return known
		}
	}
	return append(known, version)
}

// condition is the condition of a definition: as it was if it says the same.
func (c *Cluster) condition(status map[string]any, kind string, holds bool) map[string]any {
	value, reason, message := "True", "NoConflicts", "no conflicts found"
	if kind == "Established" {
		reason, message = "InitialNamesAccepted", "the initial names have been accepted"
	}
	if !holds {
		value, reason, message = "False", "KindConflict", "the kind is declared already"
	}
	before, _ := status["conditions"].([]any)
	for _, item := range before {
		if condition, ok := item.(map[string]any); ok && condition["type"] == kind && condition["status"] == value {
			return condition
		}
	}
	return map[string]any{
		"type": kind, "status": value, "reason": reason, "message": message, "lastTransitionTime": c.timestamp(),
	}
}
