package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Bounds of a signing secret's bytes, from Standard Webhooks 1.0.0.
const (
	minSecretBytes = 24
	maxSecretBytes = 64
	secretPrefix   = "whsec_"
)

// maxSecrets bounds how many signatures one delivery carries.
const maxSecrets = 10

// signer signs deliveries by every secret in use, and by those derived from it for the delivery's tenant and type.
type signer struct{ keys [][]byte }

// newSigner reads secrets of the form whsec_<base64>, newest first. Errors name a secret by its place, never by its text.
func newSigner(secrets []string) (signer, error) {
	if len(secrets) == 0 || len(secrets) > maxSecrets {
		return signer{}, fmt.Errorf("signing secrets: %d given, 1 to %d are needed", len(secrets), maxSecrets)
	}
	var s signer
	for i, secret := range secrets {
		key, err := parseSecret(secret)
		if err != nil {
			return signer{}, fmt.Errorf("signing secret %d of %d: %w", i+1, len(secrets), err)
		}
		s.keys = append(s.keys, key)
	}
	return s, nil
}

// CheckSecrets refuses what New would refuse of signing secrets.
func CheckSecrets(secrets []string) error {
	_, err := newSigner(secrets)
	return err
}

func parseSecret(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, secretPrefix)
	if !ok {
		return nil, errors.New("must begin with " + secretPrefix)
	}
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil, errors.New("must be " + secretPrefix + " and base64 with padding")
	}
	if len(key) < minSecretBytes || len(key) > maxSecretBytes {
		return nil, fmt.Errorf("has %d bytes, must have %d to %d", len(key), minSecretBytes, maxSecretBytes)
	}
	return key, nil
}

// sign returns the value of webhook-signature: v1 signatures separated by spaces, each over id, the whole seconds of at,
// and body. Each secret in use makes two of them. For a tenant's job these are by the tenant's secret and by that of the
// tenant's type, so that nobody who verifies by another secret believes what a tenant has sent. For a job without a tenant
// they are by the secret itself and by that of the type.
func (s signer) sign(id string, at time.Time, body []byte, tenant, typ string) string {
	var out strings.Builder
	for _, key := range s.keys {
		if tenant != "" {
			key = tenantKey(key, tenant)
		}
		for _, by := range [][]byte{key, typeKey(key, typ)} {
			mac := hmac.New(sha256.New, by)
			mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
			mac.Write(body)
			if out.Len() > 0 {
				out.WriteByte(' ')
			}
			out.WriteString("v1,")
			out.WriteString(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		}
	}
	return out.String()
}

// tenantKey and typeKey derive the key of a tenant, and that of a type from the installation's key or from a tenant's. What
// is derived from is the value of the delivery's header, so that a receiver can derive it too.
func tenantKey(key []byte, tenant string) []byte {
	return derive(key, "belfry-tenant:"+headerText(tenant))
}
func typeKey(key []byte, typ string) []byte { return derive(key, "belfry-type:"+headerText(typ)) }

func derive(key []byte, from string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(from))
	return mac.Sum(nil)
}

// DeriveSecret returns the signing secret for the deliveries of one tenant, of one type, or of one type of one tenant; an
// empty one of both is left out. Whoever holds it can verify those and no others. The error never holds a secret.
func DeriveSecret(secret, tenant, typ string) (string, error) {
	key, err := parseSecret(secret)
	if err != nil {
		return "", fmt.Errorf("signing secret: %w", err)
	}
	if tenant != "" {
		key = tenantKey(key, tenant)
	}
	if typ != "" {
		key = typeKey(key, typ)
	}
	return secretPrefix + base64.StdEncoding.EncodeToString(key), nil
}
