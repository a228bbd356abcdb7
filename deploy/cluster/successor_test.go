package cluster_test

import (
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

const (
	aJob = `{apiVersion: batch/v1, kind: Job, metadata: {name: it}, spec: {suspend: true, template: {spec: {
		restartPolicy: Never, containers: [{name: c, image: "example.invalid/c:1"}]}}}}`
	aDeployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: it}, spec: {replicas: 0, selector: {matchLabels: {app: it}},
		template: {metadata: {labels: {app: it}}, spec: {containers: [{name: c, image: "example.invalid/c:1"}]}}}}`
	aSet = `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: it}, spec: {replicas: 0, serviceName: it, selector: {matchLabels: {app: it}},
		template: {metadata: {labels: {app: it}}, spec: {containers: [{name: c, image: "example.invalid/c:1"}]}}}}`
	aService  = `{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {type: LoadBalancer, loadBalancerClass: example.com/a, ports: [{port: 80}]}}`
	aFrozen   = `{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, immutable: true, data: {a: "1", b: "2"}}`
	aSecret   = `{apiVersion: v1, kind: Secret, metadata: {name: it}, type: example.com/token, stringData: {a: "1"}}`
	aRole     = `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: it}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}}`
	aDaemon   = `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: it}, spec: {selector: {matchLabels: {app: it}}, template: {metadata: {labels: {app: it}}, spec: {nodeSelector: {no: node}, containers: [{name: c, image: "example.invalid/c:1"}]}}}}`
	aQuota    = `{apiVersion: v1, kind: ResourceQuota, metadata: {name: full}, spec: {hard: {count/jobs.batch: 1}}}`
	retention = `replicas: 0, persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}`
)

// with replaces pieces of a manifest, given in pairs.
func with(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }

// What a server refuses to change is created again where it accepts the new object, and kept where it doesn't.
func TestRecreateAsksTheServer(t *testing.T) {
	t.Parallel()
	const image, selector = "example.invalid/c:1", "{matchLabels: {app: it}}"
	held := with(aService, "{port: 80}", "{name: a, port: 80, nodePort: 30072}, {name: b, port: 80, protocol: UDP, nodePort: 30072}, {name: c, port: 81, nodePort: 30073}",
		"type:", "externalTrafficPolicy: Local, healthCheckNodePort: 30074, type:")
	for reason, row := range map[string]struct {
		strategy      deploy.Strategy
		before, after string
		others        string // is there too
		action        deploy.Action
		message       string
	}{
		"a value in a Job's template":               {"", aJob, with(aJob, image, image+"2"), "", deploy.Recreated, ""},
		"a Job's completions":                       {"", aJob, with(aJob, "suspend: true", "suspend: true, completions: 2"), "", deploy.Recreated, ""},
		"a Job's index":                             {"", aJob, with(aJob, "suspend: true", "suspend: true, completions: 2, completionMode: Indexed"), "", deploy.Recreated, ""},
		"a Deployment's selector":                   {"", aDeployment, with(aDeployment, "app: it", "app: other"), "", deploy.Recreated, ""},
		"a DaemonSet's selector":                    {"", aDaemon, with(aDaemon, "app: it", "app: other"), "", deploy.Recreated, ""},
		"a StatefulSet's service":                   {"", aSet, with(aSet, "serviceName: it", "serviceName: other"), "", deploy.Recreated, ""},
		"a Service's class":                         {"", aService, with(aService, "example.com/a", "example.com/b"), "", deploy.Recreated, ""},
		"a value of a frozen ConfigMap":             {"", aFrozen, with(aFrozen, `"1"`, `"3"`), "", deploy.Recreated, ""},
		"a key taken out of it":                     {"", aFrozen, with(aFrozen, `, b: "2"`, ""), "", deploy.Recreated, ""},
		"it is frozen no more":                      {"", aFrozen, with(aFrozen, "immutable: true, ", ""), "", deploy.Recreated, ""},
		"a Secret's type":                           {"", aSecret, with(aSecret, "example.com/token", "example.com/other"), "", deploy.Recreated, ""},
		"a Secret's type taken away":                {"", aSecret, with(aSecret, "type: example.com/token, ", ""), "", deploy.Recreated, ""},
		"a binding's role":                          {"", aRole, with(aRole, "name: view", "name: edit"), "", deploy.Recreated, ""},
		"invalid in the immutable template":         {"", aJob, with(aJob, image+`"`, image+`2", imagePullPolicy: Sometimes`), "", deploy.Failed, `Unsupported value: "Sometimes"`},
		"invalid in the immutable selector":         {"", aDeployment, with(aDeployment, selector, "{matchLabels: {app: it}, matchExpressions: [{key: app, operator: Is, values: [x]}]}"), "", deploy.Failed, "not a valid selector operator"},
		"invalid beside the immutable selector":     {"", aDeployment, with(aDeployment, "app: it", "app: other", image+`"`, image+`", imagePullPolicy: Sometimes`), "", deploy.Failed, `Unsupported value: "Sometimes"`},
		"an invalid key in a frozen Secret":         {"", with(aFrozen, "ConfigMap", "Secret", `"1"`, "MQ==", `"2"`, "Mg=="), with(aFrozen, "ConfigMap", "Secret", `"1"`, "Mw==", "b: \"2\"", `"b c": Mg==`), "", deploy.Failed, "a valid config key must consist of"},
		"a selector that doesn't match the labels":  {"", aSet, with(aSet, "matchLabels: {app: it}", "matchLabels: {app: other}"), "", deploy.Failed, "does not match template"},
		"a type without its data":                   {"", aSecret, with(aSecret, "example.com/token", "kubernetes.io/tls"), "", deploy.Failed, "data[tls.crt]: Required value"},
		"a full quota, of which it is a part":       {"", aJob, with(aJob, image, image+"2"), aQuota, deploy.Recreated, ""},
		"a quota for which it is too much":          {"", with(aService, "LoadBalancer, loadBalancerClass: example.com/a", `ClusterIP, clusterIP: None`), with(aService, "LoadBalancer, loadBalancerClass: example.com/a", "NodePort"), `{apiVersion: v1, kind: ResourceQuota, metadata: {name: full}, spec: {hard: {services.nodeports: 0}}}`, deploy.Failed, "exceeded quota: full"},
		"two quotas, of which one isn't full by it": {"", aService, with(aService, "example.com/a", "example.com/b", "port: 80}", "port: 80, name: a}, {port: 81, name: b}"), with(aQuota, "count/jobs.batch: 1", "services: 1") + "\n---\n" + with(aQuota, "count/jobs.batch: 1", "services.nodeports: 1", "full", "ports"), deploy.Failed, "exceeded quota"},
		"two quotas that it fills":                  {"", aService, with(aService, "example.com/a", "example.com/b"), with(aQuota, "count/jobs.batch: 1", "services: 1") + "\n---\n" + with(aQuota, "count/jobs.batch: 1", "services.loadbalancers: 1", "full", "balancers"), deploy.Recreated, ""},
		"a quota that doesn't count the old one":    {"", aPod, with(aPod, "c:1\"", "c:1\", resources: {requests: {cpu: 1}}"), with(aQuota, "count/jobs.batch: 1", "pods: 0", "}}}", "}, scopes: [NotBestEffort]}}"), deploy.Failed, "exceeded quota"},
		"more of a quota, which has room":           {"", with(aPod, "c:1\"", "c:1\", resources: {requests: {cpu: 1}}"), with(aPod, "c:1\"", "c:1\", resources: {requests: {cpu: 1500m}}"), with(aQuota, "count/jobs.batch: 1", "requests.cpu: 2"), deploy.Recreated, ""},
		"ports of several kinds that it has":        {"", held, with(held, "com/a", "com/b"), "", deploy.Recreated, ""},
		"a health check's port of another one":      {"", with(aService, "type:", "externalTrafficPolicy: Local, type:"), with(aService, "type:", "externalTrafficPolicy: Local, healthCheckNodePort: 30075, type:", "com/a", "com/b"), with(aService, "name: it", "name: other", "type:", "externalTrafficPolicy: Local, healthCheckNodePort: 30075, type:"), deploy.Failed, "provided port is already allocated"},
		"an address of another one":                 {"", aService, with(aService, "type:", "clusterIP: 10.0.0.78, type:"), with(aService, "name: it", "name: other", "type:", "clusterIP: 10.0.0.78, type:"), deploy.Failed, "10.0.0.78 is used by Service"},
		"an address that is free":                   {"", aService, with(aService, "type:", "clusterIP: 10.0.0.79, type:"), "", deploy.Recreated, ""},
		"ports and addresses that it has itself":    {"", with(aService, "port: 80", "port: 80, nodePort: 30077", "type:", "clusterIP: 10.0.0.77, type:"), with(aService, "port: 80", "port: 80, nodePort: 30077", "type:", "clusterIP: 10.0.0.77, type:", "com/a", "com/b"), "", deploy.Recreated, ""},
		"a port that another one has":               {"", aService, with(aService, "port: 80", "port: 80, nodePort: 30078", "com/a", "com/b"), `{apiVersion: v1, kind: Service, metadata: {name: other}, spec: {type: NodePort, ports: [{port: 80, nodePort: 30078}]}}`, deploy.Failed, "provided port is already allocated"},
		"a StatefulSet that takes its claims":       {"", with(aSet, "replicas: 0", retention), with(aSet, "replicas: 0", retention, "serviceName: it", "serviceName: other"), "", deploy.Failed, "would also delete the data of the claims of its volumeClaimTemplates: use the strategy RecreateOrphan"},
		"unless they are left alone":                {deploy.RecreateOrphan, with(aSet, "replicas: 0", retention), with(aSet, "replicas: 0", retention, "serviceName: it", "serviceName: other"), "", deploy.Recreated, ""},
		"or it is meant":                            {deploy.RecreateProtected, with(aSet, "replicas: 0", retention), with(aSet, "replicas: 0", retention, "serviceName: it", "serviceName: other"), "", deploy.Recreated, ""},
		"an apply says which strategy does it":      {deploy.ServerSideApply, aSet, with(aSet, "serviceName: it", "serviceName: other"), "", deploy.Failed, "the strategy RecreateOrphan (annotation operkit.dev/strategy) creates the object again and leaves its Pods and claims alone"},
		"of a claim that is another one":            {deploy.ServerSideApply, aClaim, with(aClaim, "none", "other"), "", deploy.Failed, "the strategy RecreateProtected (annotation operkit.dev/strategy) deletes the object with what it holds"},
		"but not where none does":                   {deploy.ServerSideApply, aJob, with(aJob, image+`"`, image+`2", imagePullPolicy: Sometimes`), "", deploy.Failed, `"Sometimes": supported values`},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			env := envtest.Start(t)
			admin := newCluster(t, env.Admin, cluster.Namespaces(env.Namespace))
			for _, text := range manifests(row.others) {
				apply(t, must(deploy.NewManager(admin)), object(t, env.Namespace, text))
				awaitQuota(t, env, text)
			}
			strategy := row.strategy
			if strategy == "" {
				strategy = deploy.Recreate
			}
			m := must(deploy.NewManager(newCluster(t, env.Config, cluster.Namespaces(env.Namespace)), deploy.DefaultStrategy(strategy)))
			before := apply(t, m, object(t, env.Namespace, row.before))
			for _, text := range manifests(row.others) {
				awaitQuota(t, env, text)
			}
			results, err := m.Apply(t.Context(), []*unstructured.Unstructured{object(t, env.Namespace, row.after)})
			if row.action == deploy.Recreated && err != nil && strings.Contains(err.Error(), "it was deleted and isn't created again yet: ") {
				require.Contains(t, err.Error(), "exceeded quota", "only a quota that isn't counted yet is in the way")
				require.Eventually(t, func() bool {
					results, err = m.Apply(t.Context(), []*unstructured.Unstructured{object(t, env.Namespace, row.after)})
					return err == nil
				}, quotaPatience, quotaPatience/1000, "it is made by the next apply")
				results[0].Action = deploy.Recreated
			}
			require.Equal(t, row.action, results[0].Action, "%v", err)
			live, getErr := admin.Port().Get(t.Context(), before.Ref)
			require.NoError(t, getErr, "the object is lost")
			assert.Equal(t, row.action == deploy.Recreated, live.GetUID() != before.Object.GetUID())
			if row.message != "" {
				require.ErrorContains(t, err, row.message)
			}
		})
	}
}

// manifests splits a text into its documents.
func manifests(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n---\n")
}

// awaitQuota waits until a quota, if text is one, counts what is there.
func awaitQuota(t testing.TB, env *envtest.Env, text string) {
	t.Helper()
	quota := object(t, env.Namespace, text)
	if quota.GetKind() != "ResourceQuota" {
		return
	}
	client, err := dynamic.NewForConfig(env.Admin)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		live, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "resourcequotas"}).Namespace(env.Namespace).Get(t.Context(), quota.GetName(), metav1.GetOptions{})
		require.NoError(t, err)
		used, _, _ := unstructured.NestedStringMap(live.Object, "status", "used")
		for name, amount := range used {
			kind, counted := countedBy[name]
			if !counted {
				continue
			}
			found, err := client.Resource(kind).Namespace(env.Namespace).List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			if amount == "0" != (len(found.Items) == 0) {
				return false
			}
		}
		return len(used) > 0
	}, quotaPatience, quotaPatience/1000)
}

// quotaPatience is longer than the quota controller stands still when other tests install or remove kinds: it looks for
// them every 30 seconds, and counts nothing until it watches them.
const quotaPatience = 4 * patience

// countedBy are the kinds of which there is something while a quota says so.
var countedBy = map[string]schema.GroupVersionResource{
	"count/jobs.batch":       {Group: "batch", Version: "v1", Resource: "jobs"},
	"services":               {Version: "v1", Resource: "services"},
	"services.loadbalancers": {Version: "v1", Resource: "services"},
	"requests.cpu":           {Version: "v1", Resource: "pods"},
}
