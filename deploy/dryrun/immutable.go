package dryrun

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// rule declares a part of the objects of a kind as immutable.
type rule struct {
	// at is the path of the part, such as spec.selector.
	at string
	// but are the paths that may change below the path in the field at. [*] stands for every item of a list.
	but []string
	// once means that the part may be set if it wasn't set before.
	once bool
	// when reports whether the rule applies to an update. nil means always.
	when func(u update) bool
	// The value of as is the path that the server names in its error. Empty means the path in at.
	as string
	// forbids is the message of an error of the type Forbidden. If forbids is empty, the error is of the type Invalid.
	// Its message is then the value of says, or fieldImmutable if says is empty, too.
	forbids, says string
}

// fieldImmutable is the server's message for most immutable fields.
const fieldImmutable = "field is immutable"

// rules are the checks of updates of a kind.
type rules struct {
	fixed []rule
	// also is a check that can't be expressed as a rule, nil if there is none.
	also func(u update) field.ErrorList
}

// update is an update of an object to check.
type update struct {
	live, next map[string]any
	object     smd.TypeRef
	comparer
}

// immutable returns an error for each change from live to next that a server refuses because the field is immutable.
func (c *Cluster) immutable(d *declaration, live, next *unstructured.Unstructured) field.ErrorList {
	of, ok := immutableFields[d.kind.GroupKind()]
	if !ok {
		return nil
	}
	u := update{live: live.Object, next: next.Object, comparer: comparer{zeros: c.kinds.builtin.zeros}}
	if object, err := d.object(); err == nil {
		u.types, u.object = object.Schema, object.TypeRef
	}
	var problems field.ErrorList
	for _, r := range of.fixed {
		if problem := r.check(u); problem != nil {
			problems = append(problems, problem)
		}
	}
	if of.also != nil {
		problems = append(problems, of.also(u)...)
	}
	return problems
}

func (r rule) check(u update) *field.Error {
	if r.when != nil && !r.when(u) || r.once && isZeroValue(valueAt(u.live, r.at)) || !u.changes(r.at, r.but...) {
		return nil
	}
	path := r.at
	if r.as != "" {
		path = r.as
	}
	switch {
	case r.forbids != "":
		return field.Forbidden(field.NewPath(path), r.forbids)
	case r.says != "":
		return field.Invalid(field.NewPath(path), valueAt(u.next, r.at), r.says)
	}
	return field.Invalid(field.NewPath(path), valueAt(u.next, r.at), fieldImmutable)
}

// changes reports whether the update changes the value at path. It ignores the paths in but, which are relative to
// path.
func (u update) changes(path string, but ...string) bool {
	before, after, ref := u.live, u.next, u.object
	if value := valueAt(before, path); value != nil && alike(value, valueAt(after, path)) {
		return false
	}
	names := strings.Split(path, ".")
	last := len(names) - 1
	for _, name := range names[:last] {
		before, after, ref = mapAt(before, name), mapAt(after, name), u.field(ref, name)
	}
	var except excepted
	for _, name := range but {
		except = append(except, strings.Split(names[last]+"."+name, "."))
	}
	return !u.sameField(before, after, names[last], ref, except)
}

func isZeroValue(value any) bool {
	return value == nil || value == "" || value == false || value == int64(0)
}

// immutableFields are the rules for built-in kinds, as in the API server's validation.
var immutableFields = map[schema.GroupKind]rules{
	{Kind: "ConfigMap"}: {fixed: []rule{
		{at: "immutable", when: frozen, forbids: whenImmutable},
		{at: "data", when: frozen, forbids: whenImmutable},
		{at: "binaryData", when: frozen, forbids: whenImmutable},
	}},
	{Kind: "Node"}: {also: nodeChanges},
	{Kind: "PersistentVolume"}: {fixed: []rule{
		{at: "spec.volumeMode", as: "volumeMode"},
		{
			at: "spec.nodeAffinity", as: "nodeAffinity", once: true,
			says: "field is immutable, except for updating from beta label to GA",
		},
	}, also: volumeChanges},
	{Kind: "PersistentVolumeClaim"}: {fixed: []rule{{at: "spec.volumeMode", as: "volumeMode"}}, also: claimChanges},
	{Kind: "Pod"}:                   {also: podChanges},
	{Kind: "ResourceQuota"}:         {also: quotaChanges},
	{Kind: "Secret"}: {fixed: []rule{
		{at: "type"},
		{at: "immutable", when: frozen, forbids: whenImmutable},
		{at: "data", when: frozen, forbids: whenImmutable},
	}},
	{Kind: "Service"}: {also: serviceChanges},

	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: {fixed: []rule{
		{at: "spec.scope", when: isEstablished},
		{at: "spec.names.kind", when: isEstablished},
		{at: "spec.group"},
		{at: "spec.names.plural"},
	}, also: storedVersionChanges},

	{Group: "apps", Kind: "ControllerRevision"}: {fixed: []rule{{at: "data"}}},
	{Group: "apps", Kind: "DaemonSet"}:          {fixed: []rule{{at: "spec.selector"}}},
	{Group: "apps", Kind: "Deployment"}:         {fixed: []rule{{at: "spec.selector"}}},
	{Group: "apps", Kind: "ReplicaSet"}:         {fixed: []rule{{at: "spec.selector"}}},
	{Group: "apps", Kind: "StatefulSet"}: {fixed: []rule{{
		at: "spec",
		but: []string{
			"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit", "minReadySeconds",
			"persistentVolumeClaimRetentionPolicy", "volumeClaimTemplates[*].apiVersion", "volumeClaimTemplates[*].kind",
		},
		forbids: "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
			"'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
	}}},

	{Group: "batch", Kind: "Job"}: {fixed: jobRules},

	{Group: "certificates.k8s.io", Kind: "ClusterTrustBundle"}:    {fixed: []rule{{at: "spec.signerName"}}},
	{Group: "certificates.k8s.io", Kind: "PodCertificateRequest"}: {fixed: []rule{{at: "spec"}}},
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}:            {fixed: []rule{{at: "addressType"}}},

	{Group: "events.k8s.io", Kind: "Event"}: {fixed: []rule{
		{at: "regarding", as: "involvedObject"},
		{at: "reason"},
		{at: "note", as: "message"},
		{at: "deprecatedSource", as: "source"},
		{at: "deprecatedFirstTimestamp", as: "firstTimestamp"},
		{at: "deprecatedLastTimestamp", as: "lastTimestamp"},
		{at: "deprecatedCount", as: "count"},
		{at: "type"},
		{at: "eventTime"},
		{at: "action"},
		{at: "related"},
		{at: "reportingController"},
		{at: "reportingInstance"},
	}},

	{Group: "networking.k8s.io", Kind: "IPAddress"}:    {fixed: []rule{{at: "spec.parentRef"}}},
	{Group: "networking.k8s.io", Kind: "IngressClass"}: {fixed: []rule{{at: "spec.controller"}}},
	{Group: "networking.k8s.io", Kind: "ServiceCIDR"}:  {also: cidrChanges},
	{Group: "node.k8s.io", Kind: "RuntimeClass"}:       {fixed: []rule{{at: "handler"}}},

	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}: {fixed: roleRefRules},
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:        {fixed: roleRefRules},

	{Group: "resource.k8s.io", Kind: "ResourceClaim"}:         {fixed: []rule{{at: "spec"}}},
	{Group: "resource.k8s.io", Kind: "ResourceClaimTemplate"}: {fixed: []rule{{at: "spec"}}},
	{Group: "resource.k8s.io", Kind: "ResourceSlice"}: {fixed: []rule{
		{at: "spec.pool.name"}, {at: "spec.driver"}, {at: "spec.nodeName"},
	}},

	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}: {fixed: []rule{
		{at: "value", forbids: "may not be changed in an update."},
		{at: "preemptionPolicy"},
	}},

	{Group: "storage.k8s.io", Kind: "CSIDriver"}: {fixed: []rule{
		{at: "spec.attachRequired", as: "spec.attachedRequired"},
		{at: "spec.volumeLifecycleModes"},
	}},
	{Group: "storage.k8s.io", Kind: "CSINode"}:            {also: nodeDriverChanges},
	{Group: "storage.k8s.io", Kind: "CSIStorageCapacity"}: {fixed: []rule{{at: "nodeTopology"}, {at: "storageClassName"}}},
	{Group: "storage.k8s.io", Kind: "StorageClass"}: {fixed: []rule{
		{at: "parameters"}, {at: "provisioner"}, {at: "reclaimPolicy"}, {at: "volumeBindingMode"},
	}},
	{Group: "storage.k8s.io", Kind: "VolumeAttachment"}: {fixed: []rule{{at: "spec"}}},
	{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}: {fixed: []rule{
		{at: "driverName", forbids: "updates to driverName are forbidden."},
		{at: "parameters", forbids: "updates to parameters are forbidden."},
	}},
	{Group: "storagemigration.k8s.io", Kind: "StorageVersionMigration"}: {fixed: []rule{{at: "spec"}}},
}

const whenImmutable = "field is immutable when `immutable` is set"

// frozen reports whether the object has the field immutable set to true.
func frozen(u update) bool { return u.live["immutable"] == true }

// isEstablished reports whether the kind of a definition is served.
func isEstablished(u update) bool { return hasCondition(u.live, "Established") }

// hasCondition reports whether a condition of an object's status is true.
func hasCondition(obj map[string]any, kind string) bool {
	return slices.ContainsFunc(listAt(obj, "status.conditions"), func(item any) bool {
		condition, _ := item.(map[string]any)
		return condition["type"] == kind && condition["status"] == "True"
	})
}

var roleRefRules = []rule{{at: "roleRef", says: "cannot change roleRef"}}
