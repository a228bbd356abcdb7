package celready

import (
	"testing"

	"github.com/operkit/operkit/status/readiness"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kinds of others, by expressions that a user would write for them.
var (
	certificate = Expressions{
		Ready: "object.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True' &&" +
			" c.?observedGeneration.orValue(0) == object.metadata.generation)",
		Failed:  "has(object.status.lastFailureTime) && object.status.failedIssuanceAttempts >= 3",
		Message: "object.status.conditions.filter(c, c.type == 'Ready').map(c, c.message).join('; ')",
	}
	// An Argo Rollout has its observedGeneration as a text, which nobody else takes for one.
	rollout = Expressions{
		Ready:   "object.status.observedGeneration == string(object.metadata.generation) && object.status.phase == 'Healthy'",
		Failed:  "object.status.phase == 'Degraded'",
		Message: "object.status.message",
	}
	knativeService = Expressions{
		Ready: "object.status.latestReadyRevisionName == object.status.latestCreatedRevisionName &&" +
			" object.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')",
		Failed: "object.status.conditions.exists(c, c.type == 'Ready' && c.status == 'False')",
		Message: "object.status.conditions.filter(c, c.type == 'Ready')" +
			".map(c, '%s: %s'.format([c.?reason.orValue('Unknown'), c.?message.orValue('')])).join()",
	}
	gateway = Expressions{
		Ready: "object.spec.listeners.all(l, object.status.listeners.exists(s, s.name == l.name &&" +
			" s.conditions.exists(c, c.type == 'Programmed' && c.status == 'True')))",
		Message: "'waits for %s'.format([object.spec.listeners.filter(l, !object.status.listeners.exists(s, s.name == l.name &&" +
			" s.conditions.exists(c, c.type == 'Programmed' && c.status == 'True'))).map(l, l.name).join(', ')])",
	}
	database = Expressions{
		Ready:   "object.status.members >= object.spec.members && object.status.?load.orValue(0.0) < 1",
		Message: "'%d of %d members'.format([int(object.status.members), int(object.spec.members)])",
	}
)

func TestKinds(t *testing.T) {
	t.Parallel()
	registry, err := Registry(map[schema.GroupKind]Expressions{
		{Group: "cert-manager.io", Kind: "Certificate"}:       certificate,
		{Group: "argoproj.io", Kind: "Rollout"}:               rollout,
		{Group: "serving.knative.dev", Kind: "Service"}:       knativeService,
		{Group: "gateway.networking.k8s.io", Kind: "Gateway"}: gateway,
		{Group: "example.dev", Kind: "Database"}:              database,
	})
	require.NoError(t, err)
	require.NoError(t, registry.Validate())
	checker := readiness.Checker{Registry: registry}
	for _, row := range []struct {
		reason, object string
		state          readiness.State
		want, message  string
		fields         []string
	}{
		{
			"a new one, without a status", `
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: tls, namespace: shop, generation: 1}
spec: {secretName: tls, dnsNames: [shop.example.com], issuerRef: {name: letsencrypt, kind: ClusterIssuer}}`,
			readiness.InProgress, "FieldMissing", "object.status.conditions isn't there yet", []string{"status.conditions"},
		},
		{
			"one that is issued", `
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: tls, namespace: shop, generation: 1}
status:
  notAfter: "2026-09-01T10:00:00Z"
  revision: 1
  conditions:
  - {type: Ready, status: "True", observedGeneration: 1, reason: Ready, message: Certificate is up to date and has not expired}`,
			readiness.Ready, "Ready", "the expression ready is true: " + certificate.Ready,
			[]string{"status.conditions", "metadata.generation"},
		},
		{
			"issued for what the spec was before: this condition's observedGeneration is the expression's to compare", `
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: tls, generation: 2}
status:
  conditions: [{type: Ready, status: "True", observedGeneration: 1, message: Certificate is up to date and has not expired}]`,
			readiness.InProgress, "NotReady", "Certificate is up to date and has not expired", []string{"status.conditions", "metadata.generation"},
		},
		{
			"on the way, in the words of its controller", `
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: tls, generation: 1}
status:
  conditions:
  - {type: Issuing, status: "True", observedGeneration: 1, reason: DoesNotExist, message: Issuing certificate as Secret does not exist}
  - {type: Ready, status: "False", observedGeneration: 1, reason: DoesNotExist, message: Issuing certificate as Secret does not exist}`,
			readiness.InProgress, "NotReady", "Issuing certificate as Secret does not exist", []string{"status.conditions", "metadata.generation"},
		},
		{
			"tried too often", `
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: tls, generation: 1}
status:
  lastFailureTime: "2026-06-01T10:00:00Z"
  failedIssuanceAttempts: 3
  conditions: [{type: Ready, status: "False", observedGeneration: 1, message: The order was refused}]`,
			readiness.Failed, "Failed", "The order was refused", []string{"status.lastFailureTime", "status.failedIssuanceAttempts"},
		},
		{
			"being deleted, whatever its conditions say", `
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: tls, generation: 1, deletionTimestamp: "2026-06-01T10:00:00Z"}
status: {conditions: [{type: Ready, status: "True", observedGeneration: 1}]}`,
			readiness.Terminating, "Terminating", "the object is being deleted", []string{"metadata.deletionTimestamp"},
		},
		{
			"healthy", `
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: web, generation: 3}
status: {observedGeneration: "3", phase: Healthy, replicas: 5, updatedReplicas: 5}`,
			readiness.Ready, "Ready", "the expression ready is true: " + rollout.Ready,
			[]string{"status.observedGeneration", "metadata.generation", "status.phase"},
		},
		{
			"healthy before the last change: a text isn't what all kinds share", `
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: web, generation: 4}
status: {observedGeneration: "3", phase: Healthy}`,
			readiness.InProgress, "NotReady", "the expression ready is not true: " + rollout.Ready,
			[]string{"status.observedGeneration", "metadata.generation", "status.phase"},
		},
		{
			"paused, with a message", `
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: web, generation: 3}
status: {observedGeneration: "3", phase: Paused, message: CanaryPauseStep}`,
			readiness.InProgress, "NotReady", "CanaryPauseStep", []string{"status.observedGeneration", "metadata.generation", "status.phase"},
		},
		{
			"degraded", `
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: web, generation: 3}
status: {observedGeneration: "3", phase: Degraded, message: ProgressDeadlineExceeded}`,
			readiness.Failed, "Failed", "ProgressDeadlineExceeded", []string{"status.phase"},
		},
		{
			"a revision that isn't ready", `
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: hello, generation: 2}
status:
  observedGeneration: 2
  latestCreatedRevisionName: hello-00002
  latestReadyRevisionName: hello-00001
  conditions: [{type: Ready, status: Unknown, reason: RevisionMissing}]`,
			readiness.InProgress, "NotReady", "RevisionMissing: ",
			[]string{"status.latestReadyRevisionName", "status.latestCreatedRevisionName", "status.conditions"},
		},
		{
			"one that can't be pulled", `
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: hello, generation: 2}
status:
  observedGeneration: 2
  conditions: [{type: Ready, status: "False", reason: RevisionFailed, message: Unable to fetch image}]`,
			readiness.Failed, "Failed", "RevisionFailed: Unable to fetch image", []string{"status.conditions"},
		},
		{
			"ready", `
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: hello, generation: 2}
status:
  observedGeneration: 2
  latestCreatedRevisionName: hello-00002
  latestReadyRevisionName: hello-00002
  conditions: [{type: ConfigurationsReady, status: "True"}, {type: Ready, status: "True"}, {type: RoutesReady, status: "True"}]`,
			readiness.Ready, "Ready", "the expression ready is true: " + oneLine(knativeService.Ready),
			[]string{"status.latestReadyRevisionName", "status.latestCreatedRevisionName", "status.conditions"},
		},
		{
			"one listener of two, each looked up in the status", `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: door, generation: 1}
spec: {listeners: [{name: http, port: 80}, {name: https, port: 443}]}
status:
  listeners:
  - {name: http, conditions: [{type: Accepted, status: "True"}, {type: Programmed, status: "True"}]}
  - {name: https, conditions: [{type: Accepted, status: "True"}, {type: Programmed, status: "False"}]}`,
			readiness.InProgress, "NotReady", "waits for https", []string{"spec.listeners", "status.listeners"},
		},
		{
			"both", `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: door, generation: 1}
spec: {listeners: [{name: http, port: 80}]}
status: {listeners: [{name: http, conditions: [{type: Programmed, status: "True"}]}]}`,
			readiness.Ready, "Ready", "the expression ready is true: " + oneLine(gateway.Ready), []string{"spec.listeners", "status.listeners"},
		},
		{
			"an element without a field that the expression looks at", `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: door, generation: 1}
spec: {listeners: [{name: http, port: 80}]}
status: {listeners: [{name: http}]}`,
			readiness.InProgress, "FieldMissing", "s.conditions isn't there yet", []string{"spec.listeners", "status.listeners"},
		},
		{
			"status.observedGeneration is compared without an expression", `
apiVersion: example.dev/v1
kind: Database
metadata: {name: db, generation: 2}
spec: {members: 3}
status: {observedGeneration: 1, members: 3}`,
			readiness.InProgress, "LatestGenerationNotObserved", "generation 2 is not observed yet: the status is of generation 1",
			[]string{"status.observedGeneration", "metadata.generation"},
		},
		{
			"the members that there are", `
apiVersion: example.dev/v1
kind: Database
metadata: {name: db, generation: 2}
spec: {members: 3}
status: {observedGeneration: 2, members: 2}`,
			readiness.InProgress, "NotReady", "2 of 3 members", []string{"status.members", "spec.members", "status.load"},
		},
		{
			"whole numbers and others compare", `
apiVersion: example.dev/v1
kind: Database
metadata: {name: db, generation: 2}
spec: {members: 3}
status: {observedGeneration: 2, members: 3.0, load: 0.5}`,
			readiness.Ready, "Ready", "the expression ready is true: " + database.Ready, []string{"status.members", "spec.members", "status.load"},
		},
		{
			"an object that is stalled has failed, whatever the expressions say", `
apiVersion: example.dev/v1
kind: Database
metadata: {name: db, generation: 2}
status: {observedGeneration: 2, conditions: [{type: Stalled, status: "True", reason: NoDisk, message: there is no disk}]}`,
			readiness.Failed, "NoDisk", "there is no disk", []string{"status.conditions[Stalled]"},
		},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			object := read(t, row.object)
			before := object.DeepCopy()
			result := checker.Of(object)
			assert.Equal(t, row.state, result.State, "%+v", result)
			assert.Equal(t, row.want, result.Reason)
			assert.Equal(t, row.message, result.Message)
			assert.Equal(t, row.fields, result.Fields)
			assert.Equal(t, before, object, "the object isn't changed")
		})
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	object := read(t, "{apiVersion: example.dev/v1, kind: Thing, a: 1}").Object
	for _, row := range []struct {
		reason        string
		expressions   Expressions
		state         readiness.State
		want, message string
	}{
		{"failed comes first", Expressions{Ready: "true", Failed: "true"}, readiness.Failed, "Failed", "the expression failed is true: true"},
		{"what failed looks at isn't there: it hasn't", Expressions{Ready: "true", Failed: "object.b == 1"}, readiness.Ready, "Ready", "the expression ready is true: true"},
		{
			"what failed can't be is Unknown, even of what is ready", Expressions{Ready: "true", Failed: "object.a.contains('a')"}, readiness.Unknown,
			"ExpressionError", "Thing.example.dev: the expression failed, 1:18: object.a.contains(\"a\") can't be evaluated: no such overload",
		},
		{
			"a part of the object that is no bool", Expressions{Ready: "object.a"}, readiness.Unknown, "ExpressionError",
			"Thing.example.dev: the expression ready is of the type int, not bool",
		},
		{"a message is for what isn't ready", Expressions{Ready: "true", Message: "'never'"}, readiness.Ready, "Ready", "the expression ready is true: true"},
		{"an empty message is none", Expressions{Ready: "false", Message: "''"}, readiness.InProgress, "NotReady", "the expression ready is not true: false"},
		{
			"one that isn't there neither", Expressions{Ready: "false", Message: "object.b"}, readiness.InProgress, "NotReady",
			"the expression ready is not true: false",
		},
		{
			"one that is no text says so", Expressions{Ready: "false", Message: "object.a"}, readiness.InProgress, "NotReady",
			"the expression ready is not true: false; the expression message is of the type int, not string",
		},
		{
			"what is missing is said rather than the message", Expressions{Ready: "object.b", Message: "'wait'"}, readiness.InProgress, "FieldMissing",
			"object.b isn't there yet",
		},
		{
			"an expression of several lines is shown on one", Expressions{Ready: "object.a == 2 ||\n\tobject.a == 3"}, readiness.InProgress, "NotReady",
			"the expression ready is not true: object.a == 2 || object.a == 3",
		},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			result := compiled(t, row.expressions).Result(noTime, object)
			assert.Equal(t, row.state, result.State)
			assert.Equal(t, row.want, result.Reason)
			assert.Equal(t, row.message, result.Message)
		})
	}
}

func TestZeroRule(t *testing.T) {
	t.Parallel()
	result := new(Rule).Result(noTime, map[string]any{"kind": "Thing", "apiVersion": "example.dev/v1"})
	assert.Equal(t, readiness.Result{
		State: readiness.Unknown, Reason: "ExpressionError", Message: "Thing.example.dev: the rule has no expression: make it by Compile",
	}, result)
}
