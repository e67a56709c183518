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

// maxSecrets is the maximum number of secrets in use.
const maxSecrets = 10

// signer signs deliveries with every secret in use, and with secrets derived for the delivery's tenant and type.
type signer struct{ keys [][]byte }

// newSigner reads secrets of the form whsec_<base64>, newest first. Errors name a secret by its position, never by its text.
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

// CheckSecrets returns the error that New would return for signing secrets.
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

// sign returns the value of webhook-signature: v1 signatures separated by spaces, each over id, at in whole seconds, and
// body. Each secret in use makes two of them. A tenant's job is signed with the tenant's secret and the secret of the
// tenant's type, so that a receiver with any other secret does not accept what a tenant has sent. A job without a tenant is
// signed with the secret itself and with the secret of its type.
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

// tenantKey and typeKey derive the key of a tenant, and the key of a type from the installation's or a tenant's key. They
// derive from the value of the delivery's header, so that a receiver can do the same.
func tenantKey(key []byte, tenant string) []byte {
	return derive(key, "belfry-tenant:"+headerText(tenant))
}
func typeKey(key []byte, typ string) []byte { return derive(key, "belfry-type:"+headerText(typ)) }

func derive(key []byte, from string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(from))
	return mac.Sum(nil)
}

// DeriveSecret returns the signing secret for the deliveries of one tenant, of one type, or of one type of one tenant; leave
// the other name empty. Its holder can verify exactly those deliveries. The error never contains a secret.
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
