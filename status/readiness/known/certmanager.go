package known

import (
	"cmp"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/readiness"
)

// certificate is the row of cert-manager's Certificate. Ready is True as long as the Secret has a certificate that is
// valid and matches the spec, also while it is renewed. Issuing is True while one is issued; False means that the last
// request failed, and that the next one comes after an hour or more.
//
// Conditions: https://github.com/cert-manager/cert-manager/blob/master/pkg/apis/certmanager/v1/types_certificate.go
// Ready: https://github.com/cert-manager/cert-manager/blob/master/pkg/controller/certificates/readiness/readiness_controller.go
// Issuing: https://github.com/cert-manager/cert-manager/blob/master/pkg/controller/certificates/issuing/issuing_controller.go
func certificate(o object) readiness.Result {
	isReady, issuing := o.condition("Ready"), o.condition("Issuing")
	switch {
	case isReady.holds() && issuing.isFalse():
		return remark(cmp.Or(issuing.reason, "RenewalFailed"), cmp.Or(issuing.message, "the renewal of the certificate has failed"), issuing.path, isReady.path)
	case isReady.holds():
		return isReady.done()
	case issuing.isFalse():
		return issuing.fails()
	}
	result := isReady.waits()
	if secret := condition.Text(o.spec, "secretName"); secret != "" {
		issuer := condition.Map(o.spec, "issuerRef")
		result.Message += ": " + text(issuer, "kind", "Issuer") + " " + text(issuer, "name", "without a name") + " issues it into Secret " + secret
	}
	return result
}

// issuer is the row of cert-manager's Issuer and ClusterIssuer. Ready is False when the issuer can't be set up:
// ErrGetKeyPair if the Secret with the key of a CA isn't there, which a Certificate may be about to make; all other
// reasons are errors of the configuration, or of the service behind it.
//
// Conditions: https://github.com/cert-manager/cert-manager/blob/master/pkg/apis/certmanager/v1/types_issuer.go
// Reasons: https://github.com/cert-manager/cert-manager/blob/master/pkg/issuer/ca/setup.go and
// https://github.com/cert-manager/cert-manager/blob/master/pkg/issuer/acme/setup.go
func issuer(o object) readiness.Result {
	if isReady := o.condition("Ready"); !isReady.holds() {
		return isReady.unless("ErrGetKeyPair")
	}
	return o.condition("Ready").done()
}
