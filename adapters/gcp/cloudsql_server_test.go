package gcp

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

const sqlInstance = "my-project:europe-west1:belfry"

// cloudSQLServer acts as Google: the Admin API that issues certificates, and an instance that accepts clients with one.
type cloudSQLServer struct {
	server    tls.Certificate // of the instance, which is its own authority
	authority *x509.Certificate
	key       *ecdsa.PrivateKey

	mu         sync.Mutex
	calls      map[string]int
	tokens     []string // sent with requests for certificates
	authorized []string // values of the Authorization headers
}

// newCloudSQLServer makes a server whose instance has a certificate for this name.
func newCloudSQLServer(t *testing.T, name string) *cloudSQLServer {
	t.Helper()
	s := &cloudSQLServer{calls: map[string]int{}}
	s.server = selfSigned(t, name)
	clients := selfSigned(t, "clients")
	s.authority, s.key = clients.Leaf, clients.PrivateKey.(*ecdsa.PrivateKey)
	return s
}

func selfSigned(t *testing.T, name string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(1000 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// tls returns the instance's configuration: it requires a client certificate from the Admin API.
func (s *cloudSQLServer) tls() *tls.Config {
	clients := x509.NewCertPool()
	clients.AddCert(s.authority)
	return &tls.Config{Certificates: []tls.Certificate{s.server}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13}
}

// ServeHTTP implements the Admin API.
func (s *cloudSQLServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.authorized = append(s.authorized, r.Header.Get("Authorization"))
	w.Header().Set("Content-Type", "application/json")
	switch path, _ := strings.CutPrefix(r.URL.Path, "/sql/v1beta4/projects/my-project/instances/belfry"); {
	case r.Method == http.MethodGet && path == "/connectSettings":
		s.calls["settings"]++
		answer(w, map[string]any{
			"backendType": "SECOND_GEN", "databaseVersion": "POSTGRES_17", "region": "europe-west1",
			"ipAddresses":  []any{map[string]string{"type": "PRIMARY", "ipAddress": "192.0.2.1"}, map[string]string{"type": "PRIVATE", "ipAddress": "10.1.2.3"}},
			"serverCaCert": map[string]string{"cert": pemOf(s.server.Leaf.Raw)},
		})
	case r.Method == http.MethodPost && path == ":generateEphemeralCert":
		s.calls["certificate"]++
		cert, err := s.sign(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer(w, map[string]any{"ephemeralCert": map[string]string{"cert": cert}})
	default:
		http.Error(w, r.Method+" "+r.URL.Path, http.StatusNotFound)
	}
}

// sign makes a certificate that is valid for an hour.
func (s *cloudSQLServer) sign(body io.Reader) (string, error) {
	var req struct {
		PublicKey   string `json:"public_key"`
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(body).Decode(&req); err != nil {
		return "", err
	}
	s.tokens = append(s.tokens, req.AccessToken)
	block, _ := pem.Decode([]byte(req.PublicKey))
	if block == nil {
		return "", fmt.Errorf("no key in %q", req.PublicKey)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return "", err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, s.authority, key.(*rsa.PublicKey), s.key)
	return pemOf(der), err
}

func pemOf(der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func answer(w io.Writer, doc any) {
	_ = json.NewEncoder(w).Encode(doc)
}

// counts returns the number of calls so far: for connection settings, and for certificates.
func (s *cloudSQLServer) counts() (settings, certificates int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls["settings"], s.calls["certificate"]
}

// RoundTrip answers without a network, for tests in bubbles.
func (s *cloudSQLServer) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result(), nil
}
