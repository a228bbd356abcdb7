package dryrun

import (
	"fmt"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// seed stores the first objects. Their uids are claimed before any is made.
func (c *Cluster) seed(seeds []*unstructured.Unstructured) error {
	uids := map[types.UID]deploy.Ref{}
	for _, obj := range seeds {
		ref, uid := deploy.RefOf(obj), obj.GetUID()
		if other, taken := uids[uid]; taken && uid != "" {
			return &deploy.InvalidManifestError{Ref: ref, Reason: fmt.Sprintf("its uid %s is that of %s too", uid, other)}
		}
		uids[uid] = ref
		c.storage.claimUID(uid)
	}
	for _, obj := range seeds {
		// What they declare may be given before them.
		if deploy.RefOf(obj).Kind.GroupKind() == definitionKind {
			c.kinds.define(obj)
		}
	}
	namespaces := givenNamespaces(seeds)
	for _, obj := range seeds {
		if err := c.seedOne(obj, namespaces); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) seedOne(obj *unstructured.Unstructured, namespaces map[string]bool) error {
	ref := deploy.RefOf(obj)
	invalid := func(reason string) error { return &deploy.InvalidManifestError{Ref: ref, Reason: reason} }
	switch {
	case ref.Kind.Kind == "":
		return invalid("kind is missing")
	case ref.Kind.Version == "":
		return invalid("apiVersion is missing")
	case obj.IsList():
		return invalid("it is a list: pass its items one by one")
	case c.storage.get(addressOf(ref)) != nil:
		return invalid("it is given twice")
	case obj.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) == 0:
		return invalid("it has a deletionTimestamp but no finalizers: such an object is gone")
	}
	d, err := c.kinds.of(ref.Kind)
	if err != nil {
		return err
	}
	next, err := asSent(obj)
	if err != nil {
		return invalid(err.Error())
	}
	if unknown := d.unknown(next, false); len(unknown) > 0 {
		return invalid("unknown field " + strings.TrimPrefix(unknown[0], "."))
	}
	if misfit := misfits(d, next); len(misfit) > 0 {
		return invalid(misfit[0].Field + ": " + misfit[0].Message)
	}
	metadata := metadataOf(next)
	if next.GetUID() == "" {
		metadata["uid"] = string(c.storage.nextUID())
		c.storage.claimUID(next.GetUID())
	}
	if _, ok := metadata["creationTimestamp"].(string); !ok {
		metadata["creationTimestamp"] = c.timestamp()
	}
	if d.generation && next.GetGeneration() == 0 {
		metadata["generation"] = int64(1)
	}
	tidy(metadata)
	if err := c.validate(d, ref, next, nil); err != nil {
		return invalid(err.Error())
	}
	if err := managedfields.ValidateManagedFields(next.GetManagedFields()); err != nil {
		return invalid("metadata.managedFields: " + err.Error())
	}
	if c.namespacesExist && ref.Namespace != "" && !namespaces[ref.Namespace] {
		return invalid(fmt.Sprintf("namespace %s doesn't exist: give it by Namespaces, or as one of the Objects", ref.Namespace))
	}
	if ref.Kind.GroupKind() == definitionKind && !c.kinds.schemaless {
		next = c.established(next)
	}
	c.see(d)
	c.storage.put(addressOf(ref), next)
	return nil
}
