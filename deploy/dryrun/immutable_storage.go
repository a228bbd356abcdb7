package dryrun

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// volumeChanges are those of a volume's source, which is all of its spec but what volumes of every source have. A
// secret for growing a CSI volume may be added.
func volumeChanges(u update) field.ErrorList {
	var problems field.ErrorList
	but := []string{
		"accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity", "persistentVolumeReclaimPolicy",
		"storageClassName", "volumeAttributesClassName", "volumeMode",
	}
	if valueAt(u.live, "spec.csi") != nil && valueAt(u.live, "spec.csi.controllerExpandSecretRef") == nil {
		but = append(but, "csi.controllerExpandSecretRef")
	}
	if u.changes("spec", but...) {
		problems = append(problems, field.Forbidden(specPath.Child("persistentvolumesource"),
			"spec.persistentvolumesource is immutable after creation"))
	}
	const class = "spec.volumeAttributesClassName"
	if valueAt(u.live, class) != nil && valueAt(u.next, class) == nil {
		problems = append(problems, field.Forbidden(field.NewPath(class), "update from non-nil value to nil is forbidden"))
	}
	return problems
}

// claimChanges say that a claim's volume and class can be set once, and its size and attributes changed while it is
// bound.
func claimChanges(u update) field.ErrorList {
	but := []string{"dataSource", "dataSourceRef"}
	if textAt(u.live, "spec.volumeName") == "" {
		but = append(but, "volumeName")
	}
	if valueAt(u.live, "spec.storageClassName") == nil && valueAt(u.next, "spec.storageClassName") != nil {
		but = append(but, "storageClassName")
	}
	if textAt(u.live, "status.phase") == "Bound" {
		but = append(but, "resources.requests.storage", "volumeAttributesClassName")
	}
	var problems field.ErrorList
	live, next := dataSource(u.live), dataSource(u.next)
	filled := next != nil && !alike(live, next)
	if filled || u.changes("spec", but...) {
		problems = append(problems, field.Forbidden(specPath,
			"spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"))
	}
	if filled && live != nil {
		problems = append(problems, field.Invalid(specPath, next, "must match dataSourceRef"))
	}
	// The class once was an annotation.
	annotated := func(claim map[string]any) any { return mapAt(claim, "metadata.annotations")[classAnnotation] }
	if !alike(annotated(u.live), annotated(u.next)) {
		problems = append(problems, field.Invalid(field.NewPath("metadata", "annotations", classAnnotation),
			annotated(u.next), fieldImmutable))
	}
	return append(problems, sizeAndClassChanges(u)...)
}

const classAnnotation = "volume.beta.kubernetes.io/storage-class"

func sizeAndClassChanges(u update) field.ErrorList {
	var problems field.ErrorList
	const size = "spec.resources.requests.storage"
	wanted := quantityAt(u.next, size)
	if wanted.Cmp(quantityAt(u.live, size)) < 0 && wanted.Cmp(quantityAt(u.live, "status.capacity.storage")) <= 0 {
		problems = append(problems, field.Forbidden(field.NewPath(size), "field can not be less than status.capacity"))
	}
	const class = "spec.volumeAttributesClassName"
	if valueAt(u.live, "status.currentVolumeAttributesClassName") != nil && u.changes(class) {
		switch valueAt(u.next, class) {
		case nil:
			problems = append(problems, field.Forbidden(field.NewPath(class),
				"update to nil is forbidden when status.currentVolumeAttributesClassName is not nil"))
		case "":
			problems = append(problems, field.Forbidden(field.NewPath(class),
				"update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil"))
		}
	}
	return problems
}

// dataSource is what a claim is to be filled from. A server writes it into both of two fields, and restores one from
// the other if an update leaves it out.
func dataSource(claim map[string]any) map[string]any {
	if source := mapAt(claim, "spec.dataSourceRef"); source != nil {
		return source
	}
	return mapAt(claim, "spec.dataSource")
}

// quantityAt is the quantity that a path leads to, zero without one.
func quantityAt(obj map[string]any, path string) resource.Quantity {
	quantity, err := resource.ParseQuantity(fmt.Sprint(valueAt(obj, path)))
	if err != nil {
		return resource.Quantity{}
	}
	return quantity
}

// nodeDriverChanges say that of a driver on a node only what it has room for can be changed.
func nodeDriverChanges(u update) field.ErrorList {
	var problems field.ErrorList
	next := named(u.next, "spec.drivers")
	for name, driver := range named(u.live, "spec.drivers") {
		other, kept := next[name]
		of := func(driver map[string]any) map[string]any {
			return map[string]any{"spec": map[string]any{"drivers": []any{driver}}}
		}
		one := update{live: of(driver), next: of(other), object: u.object, comparer: u.comparer}
		if kept && one.changes("spec", "drivers[*].allocatable") {
			problems = append(problems, field.Invalid(specPath.Child("drivers"), other, fieldImmutable))
		}
	}
	return problems
}

// named are the items of a list by their names.
func named(obj map[string]any, list string) map[string]map[string]any {
	items := map[string]map[string]any{}
	for _, item := range listAt(obj, list) {
		if content, ok := item.(map[string]any); ok {
			items[textAt(content, "name")] = content
		}
	}
	return items
}
