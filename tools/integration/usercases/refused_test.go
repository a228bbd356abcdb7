package usercases

import (
	"errors"
	"strings"

	"github.com/operkit/operkit/deploy"
)

// refused are changes that the API server refuses for good: the object stays as it is, and the status has the server's
// words.
func refused() []userCase {
	from := func(name, reason string, words ...string) userCase {
		return userCase{name: name, reason: reason, steps: []step{
			{apply: name + "-1.json", wants: wants(ready)},
			{apply: name + "-2.json", wants: wants(unready, kept, message(words...))},
		}}
	}
	policy := from("recreate-loses/a-vapdep", "a policy denies the creation: it is asked before the deletion", latestDenied)
	address := from("recreate-loses/a-svc", "a port beside the changed address is invalid", "99999", "must be between 1 and 65535")
	return []userCase{
		from("recreate-loses/a-job", "the template of a Job becomes invalid: no new one would be accepted",
			`Unsupported value: "Sometimes"`),
		from("recreate-loses/a-depsel", "the immutable field itself becomes invalid", `"Is": not a valid selector operator`),
		from("recreate-loses/a-sec", "an immutable Secret gets an invalid key", "a valid config key must consist of"),
		from("recreate-loses/a-dep", "a field beside the changed selector is invalid", `Unsupported value: "Sometimes"`),
		from("recreate-loses/b-ret", "the claims of the StatefulSet would go with it: a change doesn't take data along",
			"RecreateOrphan"),
		policy.after(step{apply: "recreate-loses/policy.json", by: awaitPolicy}),
		address.after(step{by: giveAddresses}),
		{name: "sts-vct/2", reason: "a volumeClaimTemplate grows: the message says which strategy carries it out", steps: []step{
			{apply: "sts-vct/1.json", wants: wants(ready)},
			{apply: "sts-vct/2.json", wants: wants(unready, kept,
				message("Forbidden: updates to statefulset spec", "RecreateOrphan"))},
		}},
		{name: "claim-resize/c-noexp", reason: "a claim's class doesn't let it grow; without the growth all is well again", steps: []step{
			{apply: "claim-resize/classes.json"},
			{apply: "claim-resize/c-noexp-1.json", wants: wants(ready)},
			{apply: "claim-resize/c-noexp-2.json", wants: wants(unready, kept, message("must support resize"))},
			{apply: "claim-resize/c-noexp-3.json", wants: wants(ready, kept, image("nginx:3"))},
		}},
	}
}

// after is the case after something else.
func (c userCase) after(first step) userCase {
	c.steps = append([]step{first}, c.steps...)
	return c
}

// giveAddresses has the cluster give Services the addresses of the cases, which aren't those of a devcluster.
func giveAddresses(s *scene) {
	s.t.Helper()
	s.applyText("{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {name: further}, spec: {cidrs: [10.96.0.0/16]}}")
}

// latestDenied is the message of the policy.
const latestDenied = "the tag latest is not allowed here"

// awaitPolicy waits until the policy is in force, which takes the API server a moment.
func awaitPolicy(s *scene) {
	s.t.Helper()
	denied := parse(s.t, []byte(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: denied, namespace: default},
		spec: {selector: {matchLabels: {app: denied}}, template: {metadata: {labels: {app: denied}},
		spec: {containers: [{name: c, image: "nginx:latest"}]}}}}`))[0]
	s.await(func(s *scene) error {
		_, err := s.port.Create(s.t.Context(), denied, deploy.CreateOptions{FieldManager: user, DryRun: true})
		if err == nil {
			return errors.New("the policy isn't in force")
		}
		if !strings.Contains(err.Error(), latestDenied) {
			return err
		}
		return nil
	})
}
