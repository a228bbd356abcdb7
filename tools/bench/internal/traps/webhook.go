package traps

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// webhook is an admission webhook that puts a container "sidecar" into Deployments, as service meshes do with Pods.
type webhook struct {
	server  *http.Server
	serving sync.WaitGroup
	// url is its address, authority the certificate that clients trust.
	url       string
	authority []byte
}

// serveWebhook starts the webhook on loopback.
func serveWebhook() (*webhook, error) {
	certificate, authority, err := selfSigned()
	if err != nil {
		return nil, fmt.Errorf("webhook: certificate: %w", err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	w := &webhook{url: "https://" + listener.Addr().String() + "/inject", authority: authority}
	w.server = &http.Server{Handler: http.HandlerFunc(admit)}
	w.serving.Go(func() { _ = w.server.Serve(listener) }) // returns when stop is called
	return w, nil
}

// stop ends it.
func (w *webhook) stop() {
	_ = w.server.Close() // no requests are left
	w.serving.Wait()
}

// admit answers an admission review.
func admit(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "not an admission review", http.StatusBadRequest)
		return
	}
	patch, err := inject(review.Request.Object.Raw)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	if patch != nil {
		kind := admissionv1.PatchTypeJSONPatch
		review.Response.Patch, review.Response.PatchType = patch, &kind
	}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // fails only if the client is gone
}

// sidecar is the name of the injected container.
const sidecar = "sidecar"

// inject returns the JSON patch that adds the sidecar, or nil if the object has it already.
func inject(object []byte) ([]byte, error) {
	var deployment appsv1.Deployment
	if err := json.Unmarshal(object, &deployment); err != nil {
		return nil, fmt.Errorf("Deployment: %w", err)
	}
	if _, there := container(&deployment, sidecar); there {
		return nil, nil
	}
	added := corev1.Container{Name: sidecar, Image: "registry.example/sidecar:1.0"}
	return json.Marshal([]map[string]any{{"op": "add", "path": "/spec/template/spec/containers/-", "value": added}})
}

// selfSigned creates a certificate for loopback. It returns it for the server and, as PEM, for clients.
func selfSigned() (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	content, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	var authority bytes.Buffer
	if err := pem.Encode(&authority, &pem.Block{Type: "CERTIFICATE", Bytes: content}); err != nil {
		return tls.Certificate{}, nil, err
	}
	return tls.Certificate{Certificate: [][]byte{content}, PrivateKey: key}, authority.Bytes(), nil
}
