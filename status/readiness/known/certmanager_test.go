package known_test

import (
	"testing"

	"github.com/operkit/operkit/status/readiness"
	"github.com/stretchr/testify/assert"
)

func TestNewObjects(t *testing.T) {
	t.Parallel()
	for kind := range byName.Registry {
		t.Run("known 1: a "+kind.String()+" without a status isn't ready", func(t *testing.T) {
			t.Parallel()
			document := object(t, kind.Group+"/v1", kind.Kind, `{"parentRefs":[{"name":"web"}],"secretName":"tls"}`, "")
			assert.Equal(t, "Present", readiness.Of(document).Reason, "the table doesn't know the kind")
			result := byName.Of(document)
			assert.Equal(t, readiness.InProgress, result.State, "%+v", result)
			assert.Regexp(t, "hasn't handled the object", result.Message)
			document["status"] = map[string]any{}
			assert.Equal(t, readiness.InProgress, byName.Of(document).State)
			assert.True(t, byName.NeedsContent(kind))
		})
	}
}

func TestCertificate(t *testing.T) {
	t.Parallel()
	const spec = `{"secretName":"shop-tls","issuerRef":{"kind":"ClusterIssuer","name":"ca"}}`
	missing := is("Ready", "False", "DoesNotExist", "Issuing certificate as Secret does not exist")
	valid := is("Ready", "True", "Ready", "Certificate is up to date and has not expired")
	run(t, byName, "cert-manager.io/v1", "Certificate", []cell{
		{name: "known 3: without a status it names who issues it", spec: spec, ageless: true, state: readiness.InProgress, reason: "ConditionMissing", message: "cert-manager hasn't handled the object: ClusterIssuer ca issues it into Secret shop-tls"},
		{name: "known 3: a short form of the issuer", spec: `{"secretName":"shop-tls","issuerRef":{"name":"ca"}}`, state: readiness.InProgress, reason: "ConditionMissing", message: "Issuer ca issues it", ageless: true},
		{name: "known 2: ready for an older generation", spec: spec, status: conditions("", old("Ready", "True", "Ready")), state: readiness.InProgress, reason: "ConditionOutdated", message: "cert-manager hasn't handled the change"},
		{name: "known 2: failed for an older generation", status: conditions("", missing, old("Issuing", "False", "Failed")), state: readiness.InProgress, reason: "DoesNotExist"},
		{name: "known 3: it is being issued", spec: spec, status: conditions("", missing, is("Issuing", "True", "DoesNotExist", "Issuing certificate as Secret does not exist")), state: readiness.InProgress, reason: "DoesNotExist", message: "Secret does not exist: ClusterIssuer ca"},
		{name: "known 3: it has expired and is being issued", status: conditions("", is("Ready", "False", "Expired", "Certificate expired on"), is("Issuing", "True", "Expired", "")), state: readiness.InProgress, reason: "Expired"},
		{name: "known 3: it is valid", spec: spec, status: conditions(`"revision":1,`, valid), state: readiness.Ready, reason: "Ready", message: "up to date"},
		{name: "known 3: it is valid while it is renewed", status: conditions("", valid, is("Issuing", "True", "Renewing", "Renewing certificate")), state: readiness.Ready, reason: "Ready"},
		{name: "known 3: it is valid, and the renewal failed", status: conditions("", valid, is("Issuing", "False", "Failed", "The certificate request has failed to complete and will be retried: rate limited")), state: readiness.Ready, reason: "Failed", remark: true, message: "rate limited"},
		{name: "known 3: the request failed", status: conditions(`"failedIssuanceAttempts":1,`, missing, is("Issuing", "False", "Failed", "The certificate request has failed to complete and will be retried: rate limited")), state: readiness.Failed, reason: "Failed", message: "rate limited"},
		{name: "known 3: the request was denied", status: conditions("", missing, is("Issuing", "False", "Denied", "no such policy")), state: readiness.Failed, reason: "Denied", message: "no such policy"},
		{name: "known 3: conditions of a release without observed generations", status: conditions("", conditionOf("Ready", "True", "Ready", "", 0)), state: readiness.Ready, reason: "Ready", message: "the condition Ready is True", ageless: true},
	})
}

func TestIssuers(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"Issuer", "ClusterIssuer"} {
		run(t, byName, "cert-manager.io/v1", kind, []cell{
			{name: "known 4: " + kind + " without a status", ageless: true, state: readiness.InProgress, reason: "ConditionMissing", message: "cert-manager hasn't handled"},
			{name: "known 2: " + kind + " ready for an older generation", status: conditions("", old("Ready", "True", "KeyPairVerified")), state: readiness.InProgress, reason: "ConditionOutdated"},
			{name: "known 4: " + kind + " waits for the Secret of its CA", status: conditions("", is("Ready", "False", "ErrGetKeyPair", `Error getting keypair for CA issuer: secret "ca" not found`)), state: readiness.InProgress, reason: "ErrGetKeyPair", message: `secret "ca" not found`},
			{name: "known 4: " + kind + " is verified", status: conditions("", is("Ready", "True", "KeyPairVerified", "Signing CA verified")), state: readiness.Ready, reason: "KeyPairVerified", message: "Signing CA verified"},
			{name: "known 4: " + kind + " isn't accepted by the ACME server", status: conditions("", is("Ready", "False", "ErrRegisterACMEAccount", "contact email has forbidden domain")), state: readiness.Failed, reason: "ErrRegisterACMEAccount", message: "forbidden domain"},
			{name: "known 4: " + kind + " with a key that doesn't sign", status: conditions("", is("Ready", "False", "ErrInvalidKeyPair", "")), state: readiness.Failed, reason: "ErrInvalidKeyPair", message: "the condition Ready reports an error"},
		})
	}
}
