package celready

import (
	"testing"
	"time"

	"github.com/operkit/operkit/status/readiness"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const issued = `
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: tls, generation: 1}
spec: {secretName: tls, dnsNames: [shop.example.com], issuerRef: {name: letsencrypt, kind: ClusterIssuer}}
status:
  revision: 1
  conditions:
  - {type: Issuing, status: "False", observedGeneration: 1, reason: Issued, message: The certificate has been issued}
  - {type: Ready, status: "True", observedGeneration: 1, reason: Ready, message: Certificate is up to date and has not expired}`

// inGo is what certificate says, written by hand.
func inGo(_ time.Time, object map[string]any) readiness.Result {
	generation, _, _ := unstructured.NestedInt64(object, "metadata", "generation")
	if _, failed, _ := unstructured.NestedString(object, "status", "lastFailureTime"); failed {
		if attempts, _, _ := unstructured.NestedInt64(object, "status", "failedIssuanceAttempts"); attempts >= 3 {
			return readiness.Result{State: readiness.Failed, Reason: "Failed"}
		}
	}
	conditions, _, _ := unstructured.NestedFieldNoCopy(object, "status", "conditions")
	list, _ := conditions.([]any)
	for _, element := range list {
		c, _ := element.(map[string]any)
		if c["type"] == "Ready" && c["status"] == "True" && c["observedGeneration"] == generation {
			return readiness.Result{State: readiness.Ready, Reason: "Ready"}
		}
	}
	return readiness.Result{State: readiness.InProgress, Reason: "NotReady"}
}

// BenchmarkResult is a Certificate that is ready and one that is new, by expressions and by a function in Go.
func BenchmarkResult(b *testing.B) {
	rule := compiled(b, certificate)
	for _, row := range []struct {
		name   string
		object *unstructured.Unstructured
		state  readiness.State
	}{
		{"ready", read(b, issued), readiness.Ready},
		{"new", read(b, "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: tls, generation: 1}}"), readiness.InProgress},
	} {
		for name, judge := range map[string]func(time.Time, map[string]any) readiness.Result{"cel": rule.Result, "go": inGo} {
			b.Run(row.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if state := judge(noTime, row.object.Object).State; state != row.state {
						b.Fatal(state)
					}
				}
			})
		}
	}
}

// BenchmarkJudge is what a session asks: with what all kinds share before.
func BenchmarkJudge(b *testing.B) {
	rule := compiled(b, certificate)
	object := read(b, issued)
	b.ReportAllocs()
	for b.Loop() {
		if err := rule.Judge(b.Context(), object); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDeployment is the row of package readiness by expressions, as long as they get, and in Go.
func BenchmarkDeployment(b *testing.B) {
	rule := compiled(b, deployment)
	object := read(b, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, generation: 2}
spec: {replicas: 3, progressDeadlineSeconds: 600}
status:
  observedGeneration: 2
  replicas: 3
  updatedReplicas: 3
  readyReplicas: 3
  availableReplicas: 3
  conditions: [{type: Available, status: "True"}, {type: Progressing, status: "True", reason: NewReplicaSetAvailable}]`)
	checkers := map[string]readiness.Checker{
		"go":  {},
		"cel": {Registry: readiness.Registry{{Group: "apps", Kind: "Deployment"}: {Func: rule.Result}}},
	}
	for name, checker := range checkers {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if result := checker.Of(object); !result.Ready() {
					b.Fatal(result)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(certificate); err != nil {
			b.Fatal(err)
		}
	}
}
