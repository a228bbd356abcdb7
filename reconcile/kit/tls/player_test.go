package tls_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	certificates = schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "Certificate"}
	issuers      = schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "Issuer"}
	secrets      = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
)

// player plays cert-manager, as far as its Certificates, Issuers and Secrets show: what is issued is real X.509, and
// the conditions are those that cert-manager writes.
type player struct {
	t         *testing.T
	h         *reconciletest.Harness
	namespace string
	// corp is the CA behind the ClusterIssuer corp, and public the one of the ClusterIssuer public, which names no CA.
	corp, public identity
	// lasts is how long the CA corp is valid.
	lasts time.Duration
	// refuses says for Certificates why their requests fail: a reason and a message.
	refuses map[string][2]string
}

// identity is a certificate with its key.
type identity struct {
	cert *x509.Certificate
	pem  []byte
	key  crypto.Signer
}

func newPlayer(t *testing.T, h *reconciletest.Harness, namespace string) *player {
	p := &player{t: t, h: h, namespace: namespace, lasts: 3650 * day, refuses: map[string][2]string{}}
	p.roll()
	p.public = p.sign(x509.Certificate{Subject: pkix.Name{CommonName: "public"}, IsCA: true}, p.newKey(), nil, 3650*day)
	return p
}

// roll replaces the CA of the ClusterIssuer corp. As with cert-manager, nothing is issued anew because of that.
func (p *player) roll() {
	p.corp = p.sign(x509.Certificate{Subject: pkix.Name{CommonName: "corp"}, IsCA: true}, p.newKey(), nil, p.lasts)
}

func (p *player) newKey() crypto.Signer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(p.t, err)
	return key
}

// sign issues a certificate, signed by itself if by is nil.
func (p *player) sign(template x509.Certificate, key crypto.Signer, by *identity, life time.Duration) identity {
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(p.t, err)
	template.SerialNumber, template.BasicConstraintsValid = serial, true
	template.NotBefore, template.NotAfter = p.h.Now().Add(-time.Minute), p.h.Now().Add(life)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	if template.IsCA {
		template.KeyUsage |= x509.KeyUsageCertSign
	}
	issuer := &template
	signer := key
	if by != nil {
		issuer, signer = by.cert, by.key
	}
	raw, err := x509.CreateCertificate(rand.Reader, &template, issuer, key.Public(), signer)
	require.NoError(p.t, err)
	cert, err := x509.ParseCertificate(raw)
	require.NoError(p.t, err)
	return identity{cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), key}
}

// play handles all Issuers and Certificates once.
func (p *player) play() {
	for _, obj := range p.list(issuers) {
		p.verify(obj)
	}
	for _, obj := range p.list(certificates) {
		if !p.done(obj) {
			p.handle(obj)
		}
	}
	for _, obj := range p.list(issuers) {
		p.verify(obj)
	}
}

func (p *player) list(kind schema.GroupVersionKind) []*unstructured.Unstructured {
	all, err := p.h.Cluster().Port().List(p.t.Context(), kind, p.namespace, deploy.ListOptions{})
	require.NoError(p.t, err)
	return all
}

// verify writes the condition Ready of an Issuer.
func (p *player) verify(obj *unstructured.Unstructured) {
	secret, found, _ := unstructured.NestedString(obj.Object, "spec", "ca", "secretName")
	switch {
	case !found:
		p.report(obj, nil, condition(obj, "Ready", "True", "IsReady", ""))
	case p.secret(secret) == nil:
		p.report(obj, nil, condition(obj, "Ready", "False", "ErrGetKeyPair", `Error getting keypair for CA issuer: secret "`+secret+`" not found`))
	default:
		p.report(obj, nil, condition(obj, "Ready", "True", "KeyPairVerified", "Signing CA verified"))
	}
}

// done reports whether a Certificate needs nothing.
func (p *player) done(obj *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, entry := range conditions {
		c := entry.(map[string]any)
		if c["type"] == "Ready" && c["status"] == "True" && c["observedGeneration"] == obj.GetGeneration() {
			return p.secret(text(obj, "spec", "secretName")) != nil
		}
	}
	return false
}

// renew issues a Certificate anew, as cmctl renew does.
func (p *player) renew(name string) {
	for _, obj := range p.list(certificates) {
		if obj.GetName() == name {
			p.handle(obj)
		}
	}
}

// handle issues a Certificate, or fails to.
func (p *player) handle(obj *unstructured.Unstructured) {
	missing := condition(obj, "Ready", "False", "DoesNotExist", "Issuing certificate as Secret does not exist")
	if why, refused := p.refuses[obj.GetName()]; refused {
		p.report(obj, map[string]any{"lastFailureTime": "2030-01-01T00:00:00Z", "failedIssuanceAttempts": int64(1)}, missing,
			condition(obj, "Issuing", "False", why[0], "The certificate request has failed to complete and will be retried: "+why[1]))
		return
	}
	by, named := p.issuer(obj)
	if by == nil {
		p.report(obj, nil, missing, condition(obj, "Issuing", "True", "DoesNotExist", "Issuing certificate as Secret does not exist"))
		return
	}
	p.store(obj, *by, named)
	p.report(obj, map[string]any{"revision": int64(1)}, condition(obj, "Ready", "True", "Ready", "Certificate is up to date and has not expired"))
}

// issuer returns the CA of a Certificate, nil if it isn't there yet, and whether it is named in ca.crt. An identity
// without a certificate stands for the Certificate itself.
func (p *player) issuer(obj *unstructured.Unstructured) (by *identity, named bool) {
	kind, name := text(obj, "spec", "issuerRef", "kind"), text(obj, "spec", "issuerRef", "name")
	switch {
	case kind == "ClusterIssuer" && name == "corp":
		return &p.corp, true
	case kind == "ClusterIssuer" && name == "public":
		return &p.public, false
	case kind != "Issuer":
		return nil, false
	}
	issuer, err := p.h.Cluster().Port().Get(p.t.Context(), deploy.Ref{Kind: issuers, Namespace: p.namespace, Name: name})
	require.NoError(p.t, err)
	if issuer == nil {
		return nil, false
	}
	if _, found, _ := unstructured.NestedMap(issuer.Object, "spec", "selfSigned"); found {
		return &identity{}, true
	}
	secret := p.secret(text(issuer, "spec", "ca", "secretName"))
	if secret == nil {
		return nil, false
	}
	ca := p.identityOf(secret)
	return &ca, true
}

// identityOf reads a certificate and its key.
func (p *player) identityOf(secret *unstructured.Unstructured) identity {
	data := dataOf(p.t, secret)
	block, _ := pem.Decode(data["tls.key"])
	require.NotNil(p.t, block)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	require.NoError(p.t, err)
	return identity{certOf(p.t, secret), data["tls.crt"], key.(crypto.Signer)}
}

// store writes the Secret of a Certificate. The key is kept with the policy Never.
func (p *player) store(obj *unstructured.Unstructured, by identity, named bool) {
	isCA, _, _ := unstructured.NestedBool(obj.Object, "spec", "isCA")
	hosts, _, _ := unstructured.NestedStringSlice(obj.Object, "spec", "dnsNames")
	addresses, _, _ := unstructured.NestedStringSlice(obj.Object, "spec", "ipAddresses")
	life, err := time.ParseDuration(text(obj, "spec", "duration"))
	require.NoError(p.t, err)
	template := x509.Certificate{Subject: pkix.Name{CommonName: text(obj, "spec", "commonName")}, IsCA: isCA, DNSNames: hosts}
	if !isCA {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	}
	for _, address := range addresses {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(address))
	}
	name := text(obj, "spec", "secretName")
	key := p.newKey()
	if before := p.secret(name); before != nil && text(obj, "spec", "privateKey", "rotationPolicy") == "Never" {
		key = p.identityOf(before).key
	}
	signer := &by
	if by.cert == nil {
		signer = nil
	}
	issued := p.sign(template, key, signer, life)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(p.t, err)
	encode := base64.StdEncoding.EncodeToString
	data := map[string]any{"tls.crt": encode(issued.pem), "tls.key": encode(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}))}
	if signer == nil {
		signer = &issued
	}
	if named {
		data["ca.crt"] = encode(signer.pem)
	}
	secret := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "data": data,
		"metadata": map[string]any{"name": name, "namespace": p.namespace, "annotations": map[string]any{"cert-manager.io/certificate-name": obj.GetName()}}}}
	_, err = p.h.Cluster().Port().Apply(p.t.Context(), secret, deploy.ApplyOptions{FieldManager: "cert-manager-certificates-issuing", Force: true})
	require.NoError(p.t, err)
}

func (p *player) secret(name string) *unstructured.Unstructured {
	obj, err := p.h.Cluster().Port().Get(p.t.Context(), deploy.Ref{Kind: secrets, Namespace: p.namespace, Name: name})
	require.NoError(p.t, err)
	return obj
}

// report writes the status of an object.
func (p *player) report(obj *unstructured.Unstructured, fields map[string]any, conditions ...any) {
	status := map[string]any{"conditions": conditions}
	for key, value := range fields {
		status[key] = value
	}
	p.h.SetStatus(obj.GetKind()+" "+obj.GetName(), status)
}

// condition returns a condition for the present generation of an object.
func condition(obj *unstructured.Unstructured, kind, state, reason, message string) any {
	return map[string]any{"type": kind, "status": state, "reason": reason, "message": message,
		"lastTransitionTime": "2030-01-01T00:00:00Z", "observedGeneration": obj.GetGeneration()}
}

func text(obj *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedString(obj.Object, path...)
	return value
}
