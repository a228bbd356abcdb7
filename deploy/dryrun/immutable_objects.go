package dryrun

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const changedOnceSet = "may not change once set"

// serviceChanges checks that a Service keeps its addresses, IP families and load balancer class. A server assigns
// addresses, but the cluster in memory doesn't. A Service without an address counts as having an unknown address, so an
// update that sets spec.clusterIP alone is refused. An update that sets spec.clusterIPs is accepted, as if a server had
// assigned the address.
func serviceChanges(u update) field.ErrorList {
	before, after := service(u.live), service(u.next)
	var problems field.ErrorList
	if before.kind() != "ExternalName" && after.kind() != "ExternalName" {
		problems = append(problems, addressChanges(before, after)...)
		problems = append(problems, familyChanges(before, after)...)
	}
	if before.kind() == "LoadBalancer" && after.kind() == "LoadBalancer" && u.changes("spec.loadBalancerClass") {
		problems = append(problems, field.Invalid(specPath.Child("loadBalancerClass"),
			valueAt(u.next, "spec.loadBalancerClass"), changedOnceSet))
	}
	const port = "spec.healthCheckNodePort"
	if before.isLocal() && after.isLocal() && !isZeroValue(valueAt(u.next, port)) && u.changes(port) {
		problems = append(problems, field.Forbidden(field.NewPath(port), fieldImmutable))
	}
	return problems
}

type service map[string]any

func (s service) kind() string {
	if kind := textAt(s, "spec.type"); kind != "" {
		return kind
	}
	return "ClusterIP"
}

// addresses returns the requested addresses. It returns nil if the server assigns them.
func (s service) addresses() []any {
	if all := listAt(s, "spec.clusterIPs"); len(all) > 0 {
		return all
	}
	if one := textAt(s, "spec.clusterIP"); one != "" {
		return []any{one}
	}
	return nil
}

func (s service) isHeadless() bool {
	addresses := s.addresses()
	return len(addresses) == 1 && alike(addresses[0], "None")
}

// isLocal reports whether the Service is a load balancer that has a health check port on the nodes.
func (s service) isLocal() bool {
	return s.kind() == "LoadBalancer" && textAt(s, "spec.externalTrafficPolicy") == "Local"
}

func addressChanges(before, after service) field.ErrorList {
	live, next := before.addresses(), after.addresses()
	if before.isHeadless() && after.isHeadless() || len(next) == 0 {
		return nil // a server keeps addresses that an update omits
	}
	if len(live) == 0 && len(listAt(after, "spec.clusterIPs")) > 0 && !after.isHeadless() {
		return nil
	}
	at := specPath.Child("clusterIPs")
	var problems field.ErrorList
	for i := range next {
		found := i < len(live) && alike(live[i], next[i])
		if !found && (i == 0 || len(live) == len(next)) {
			problems = append(problems, field.Invalid(at.Index(i), next, changedOnceSet))
		}
	}
	if len(live) > len(next) && textAt(after, "spec.ipFamilyPolicy") != "SingleStack" {
		problems = append(problems, field.Invalid(specPath.Child("ipFamilyPolicy"), valueAt(after, "spec.ipFamilyPolicy"),
			"must be set to 'SingleStack' when releasing the secondary clusterIP"))
	}
	return problems
}

func familyChanges(before, after service) field.ErrorList {
	live, next := listAt(before, "spec.ipFamilies"), listAt(after, "spec.ipFamilies")
	if before.isHeadless() != after.isHeadless() || after.isHeadless() || len(live) == 0 || len(next) == 0 {
		return nil
	}
	at := specPath.Child("ipFamilies").Index(0)
	var problems field.ErrorList
	for i := range min(len(live), len(next)) {
		if !alike(live[i], next[i]) && (i == 0 || len(live) == len(next)) {
			problems = append(problems, field.Invalid(at, next, changedOnceSet))
		}
	}
	return problems
}

// volumeChanges checks that the source of a volume stays the same. The source is the spec without the fields that all
// types of sources have. A controllerExpandSecretRef may be added to a CSI volume.
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

// claimChanges checks that the volume and the class of a claim are set only once, and that its size and attributes
// change only while it is bound.
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
	// In old claims the class is an annotation.
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

// dataSource returns the data source of a claim. A server writes it to two fields. If an update omits one field, the
// server restores it from the other.
func dataSource(claim map[string]any) map[string]any {
	if source := mapAt(claim, "spec.dataSourceRef"); source != nil {
		return source
	}
	return mapAt(claim, "spec.dataSource")
}

// quantityAt returns the quantity at path, zero if there is none.
func quantityAt(obj map[string]any, path string) resource.Quantity {
	quantity, err := resource.ParseQuantity(fmt.Sprint(valueAt(obj, path)))
	if err != nil {
		return resource.Quantity{}
	}
	return quantity
}

// nodeDriverChanges checks that only the field allocatable of a driver on a node changes.
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

// named returns the items of a list by their names.
func named(obj map[string]any, list string) map[string]map[string]any {
	items := map[string]map[string]any{}
	for _, item := range listAt(obj, list) {
		if content, ok := item.(map[string]any); ok {
			items[textAt(content, "name")] = content
		}
	}
	return items
}

// nodeChanges checks that the podCIDRs and the providerID of a Node are set only once.
func nodeChanges(u update) field.ErrorList {
	var problems field.ErrorList
	before, after := podCIDRs(u.live), podCIDRs(u.next)
	if len(before) > 0 && !alike(before, after) {
		problems = append(problems, field.Forbidden(specPath.Child("podCIDRs"),
			`node updates may not change podCIDR except from "" to valid`))
	}
	if textAt(u.live, "spec.providerID") != "" && u.changes("spec.providerID") {
		problems = append(problems, field.Forbidden(specPath.Child("providerID"),
			`node updates may not change providerID except from "" to valid`))
	}
	if u.changes("spec.externalID") {
		problems = append(problems, field.Forbidden(specPath.Child("externalID"), "may not be updated"))
	}
	return problems
}

// podCIDRs returns the podCIDRs of a Node. If spec.podCIDR differs from the first of spec.podCIDRs, spec.podCIDR takes
// precedence.
func podCIDRs(node map[string]any) []any {
	all := listAt(node, "spec.podCIDRs")
	if first := textAt(node, "spec.podCIDR"); first != "" && (len(all) == 0 || !alike(all[0], first)) {
		return []any{first}
	}
	return all
}

// quotaChanges checks that a quota keeps its scopes, in any order.
func quotaChanges(u update) field.ErrorList {
	before, after := listAt(u.live, "spec.scopes"), listAt(u.next, "spec.scopes")
	within := func(some, all []any) bool {
		return !slices.ContainsFunc(some, func(scope any) bool {
			return !slices.ContainsFunc(all, func(other any) bool { return alike(scope, other) })
		})
	}
	if within(before, after) && within(after, before) {
		return nil
	}
	return field.ErrorList{field.Invalid(specPath.Child("scopes"), after, fieldImmutable)}
}

// cidrChanges checks that a ServiceCIDR keeps its ranges. A second range may be added to a single one.
func cidrChanges(u update) field.ErrorList {
	cidrs := specPath.Child("cidrs")
	before, after := listAt(u.live, "spec.cidrs"), listAt(u.next, "spec.cidrs")
	if len(before) != len(after) && (len(before) != 1 || len(after) != 2) {
		return field.ErrorList{field.Invalid(cidrs, after, fieldImmutable)}
	}
	var problems field.ErrorList
	for i := range before {
		if !alike(before[i], after[i]) {
			problems = append(problems, field.Invalid(cidrs.Index(i), after[i], fieldImmutable))
		}
	}
	return problems
}

const missingVersion = "missing from spec.versions; %[1]s was previously a storage version, and must remain in " +
	"spec.versions until a storage migration ensures no data remains persisted in %[1]s and removes %[1]s from " +
	"status.storedVersions"

// storedVersionChanges checks that a CustomResourceDefinition keeps every version in which objects may be stored.
func storedVersionChanges(u update) field.ErrorList {
	var problems field.ErrorList
	stored := listAt(u.live, "status.storedVersions")
	for i, version := range stored {
		if _, there := named(u.next, "spec.versions")[fmt.Sprint(version)]; !there {
			problems = append(problems, field.Invalid(field.NewPath("status", "storedVersions").Index(i), version,
				fmt.Sprintf(missingVersion, version)))
		}
	}
	return problems
}
