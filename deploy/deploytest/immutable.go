package deploytest

import (
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fixed is a change of an object that every API server refuses. before, after and same are the contents of the
// manifests in YAML, without apiVersion and kind; these are in head.
type fixed struct {
	name, reason string
	head         string
	before       string
	// A change from before to after is refused with an error for field. A change from before to same is accepted.
	after, field string
	same         string
}

const (
	podTemplate = "template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: 'a.invalid/a:1'}]}}"
	selected    = "selector: {matchLabels: {app: a}}, " + podTemplate
	setOf       = "serviceName: a, " + selected + ", volumeClaimTemplates: [{metadata: {name: data}, spec: {" + claimOf
	claimOf     = "accessModes: [ReadWriteOnce], resources: {requests: {storage: "
	podOf       = "template: {spec: {restartPolicy: Never, containers: [{name: a, image: "
)

var fixedFields = []fixed{
	{
		"ConfigMap", "removing a value is a change, too", "apiVersion: v1\nkind: ConfigMap",
		"{immutable: true, data: {a: '1', b: '2'}}", "{immutable: true, data: {a: '1'}}", "data",
		"{immutable: true, data: {a: '1', b: '2'}}",
	},
	{
		"ConfigMap that can't be thawed", "immutable can't be unset", "apiVersion: v1\nkind: ConfigMap",
		"{immutable: true, data: {a: '1'}}", "{data: {a: '1'}}", "immutable",
		"{immutable: true, data: {a: '1'}}",
	},
	{
		"Secret", "a missing type is Opaque", "apiVersion: v1\nkind: Secret",
		"{type: kubernetes.io/basic-auth, data: {username: MQ==}}", "{data: {username: MQ==}}", "type",
		"{type: kubernetes.io/basic-auth, data: {username: Mg==}}",
	},
	{
		"Secret without a type", "the default type is Opaque", "apiVersion: v1\nkind: Secret",
		"{data: {a: MQ==}}", "{type: example.com/own, data: {a: MQ==}}", "type", "{type: Opaque, data: {a: MQ==}}",
	},
	{
		"Service", "the server has assigned an address", "apiVersion: v1\nkind: Service",
		"{spec: {ports: [{port: 80}]}}", "{spec: {clusterIP: None, ports: [{port: 80}]}}", "spec.clusterIPs[0]",
		"{spec: {type: NodePort, ports: [{port: 80}]}}",
	},
	{
		"Service of a load balancer", "the class of a load balancer can't be set later", "apiVersion: v1\nkind: Service",
		"{spec: {type: LoadBalancer, ports: [{port: 80}]}}",
		"{spec: {type: LoadBalancer, loadBalancerClass: a/b, ports: [{port: 80}]}}", "spec.loadBalancerClass",
		"{spec: {type: ClusterIP, ports: [{port: 80}]}}",
	},
	{
		"PersistentVolumeClaim", "an unbound claim keeps its size", "apiVersion: v1\nkind: PersistentVolumeClaim",
		"{spec: {storageClassName: none, " + claimOf + "1Gi}}}}",
		"{spec: {storageClassName: none, " + claimOf + "2Gi}}}}", "spec",
		"{spec: {storageClassName: none, volumeMode: Filesystem, " + claimOf + "1024Mi}}}}",
	},
	{
		"Deployment", "a Deployment finds its ReplicaSets by the selector", "apiVersion: apps/v1\nkind: Deployment",
		"{spec: {replicas: 0, " + selected + "}}",
		"{spec: {replicas: 0, selector: {matchExpressions: [{key: app, operator: Exists}]}, " + podTemplate + "}}",
		"spec.selector",
		"{spec: {paused: true, " + selected + "}}",
	},
	{
		"StatefulSet", "few fields of a StatefulSet's spec can be changed", "apiVersion: apps/v1\nkind: StatefulSet",
		"{spec: {replicas: 0, " + setOf + "1Gi}}}}]}}", "{spec: {replicas: 0, " + setOf + "2Gi}}}}]}}", "spec",
		"{spec: {replicas: 0, minReadySeconds: 1, podManagementPolicy: OrderedReady, " + setOf + "1024Mi}}}}]}}",
	},
	{
		"Job", "the Pods of a Job aren't replaced", "apiVersion: batch/v1\nkind: Job",
		"{spec: {parallelism: 0, " + podOf + "'a:1'}]}}}}",
		"{spec: {parallelism: 0, " + podOf + "'a:2'}]}}}}", "spec.template",
		"{spec: {parallelism: 1, " + podOf + "'a:1', imagePullPolicy: IfNotPresent}], terminationGracePeriodSeconds: 30}}}}",
	},
	{
		"suspended Job", "scheduling can be changed before a Pod runs", "apiVersion: batch/v1\nkind: Job",
		"{spec: {suspend: true, " + podOf + "'a:1'}]}}}}",
		"{spec: {suspend: true, " + podOf + "'a:2'}]}}}}", "spec.template.spec",
		"{spec: {suspend: true, " + podOf + "'a:1', resources: {requests: {cpu: '1'}}}], nodeSelector: {a: b}}}}}",
	},
}

var immutableCases = func() []Case {
	cases := []Case{{
		"immutable/invalid as new", "validation comes before the check whether the object exists", invalidAsNew,
	}}
	for _, f := range fixedFields {
		cases = append(cases, Case{"immutable/" + f.name, f.reason, f.run})
	}
	return cases
}()

func (f fixed) object(s *scene, content string) *unstructured.Unstructured {
	s.Helper()
	obj := s.object(f.head)
	for field, value := range s.unplaced("{apiVersion: v1, kind: It, " + content[1:]).Object {
		if field != "apiVersion" && field != "kind" {
			obj.Object[field] = value
		}
	}
	obj.SetName("it")
	return obj
}

func (f fixed) run(s *scene) {
	before := s.apply("operkit", f.object(s, f.before))
	s.send(f.object(s, f.same), dryAsOperkit)
	for _, options := range []deploy.ApplyOptions{dryAsOperkit, asOperkit} {
		_, err := s.port().Apply(s.Context(), f.object(s, f.after), options)
		s.refusedFor(err, f.field)
	}
	equal(s, before.GetUID(), s.get(deploy.RefOf(before)).GetUID(), "uid")
	refusal[*deploy.AlreadyExistsError](s, s.port().Create, f.object(s, f.after), deploy.CreateOptions{DryRun: true})
}

// refusedFor ends the case unless err is an *InvalidError that names field.
func (s *scene) refusedFor(err error, field string) {
	s.Helper()
	refused := fails[*deploy.InvalidError](s, err)
	s.is(slices.ContainsFunc(refused.Causes, func(c deploy.InvalidField) bool { return c.Field == field }),
		"causes: %v, want one for %s", refused.Causes, field)
}

// invalidSuccessors are manifests with a value that every server refuses, by the field that has this value.
var invalidSuccessors = map[string]string{
	"data[b c]": "{apiVersion: v1, kind: Secret, metadata: {name: it}, data: {b c: MQ==}}",
	"spec.template.spec.containers[0].imagePullPolicy": "{apiVersion: batch/v1, kind: Job, metadata: {name: it}, spec: " +
		"{suspend: true, template: {spec: {restartPolicy: Never, containers: " +
		"[{name: a, image: b, imagePullPolicy: Sometimes}]}}}}",
	"spec.selector.matchExpressions[0].operator": "{apiVersion: apps/v1, kind: Deployment, metadata: {name: it}, spec: " +
		"{replicas: 0, selector: {matchLabels: {app: a}, matchExpressions: [{key: app, operator: Is}]}, " +
		podTemplate + "}}",
	"spec.ports[0].port": "{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {ports: [{port: 99999}]}}",
}

func invalidAsNew(s *scene) {
	s.create("operkit", s.settings("{a: '1'}"))
	s.create("operkit", s.widget("{size: 1}"))
	successors := map[string]*unstructured.Unstructured{
		"metadata.labels": labelled(s.settings("{a: '1'}"), "a", "no label"), "spec.size": s.widget("{size: -1}"),
	}
	for field, manifest := range invalidSuccessors {
		successors[field] = s.object(manifest)
		valid := strings.NewReplacer("b c", "b", "Sometimes", "Never", "Is", "Exists", "99999", "99").Replace(manifest)
		s.create("operkit", s.object(valid))
	}
	for field, obj := range successors {
		for _, dry := range []bool{true, false} {
			_, err := s.port().Create(s.Context(), obj, deploy.CreateOptions{FieldManager: "operkit", DryRun: dry})
			s.refusedFor(err, field)
		}
	}
}
