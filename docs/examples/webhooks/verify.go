// Package webhook verifies deliveries of webhooks: Go 1.19 or newer, nothing but the standard library.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Tolerance is how far from now a delivery may be signed: an older one may be somebody's replay.
const Tolerance = 5 * time.Minute

// Event is what a delivery tells; the fields of Data are those of its kind.
type Event struct {
	ID        string          `json:"id"`
	Event     string          `json:"event"`
	EventID   string          `json:"event_id"`
	Timestamp time.Time       `json:"timestamp"`
	Data      json.RawMessage `json:"data"`
}

// Header is what Verify needs of an http.Header.
type Header interface{ Get(name string) string }

// Verify answers the event of a delivery; body holds the raw bytes as they came.
func Verify(secret string, header Header, body []byte) (*Event, error) {
	timestamp := header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return nil, errors.New("no timestamp")
	}
	if age := time.Since(time.Unix(seconds, 0)); age > Tolerance || age < -Tolerance {
		return nil, errors.New("too old, or from the future")
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return nil, errors.New("the secret is none")
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(header.Get("webhook-id") + "." + timestamp + "."))
	mac.Write(body)
	expected := mac.Sum(nil)
	// While a secret is being rotated there are two signatures, with a space between.
	for _, signature := range strings.Split(header.Get("webhook-signature"), " ") {
		version, encoded, _ := strings.Cut(signature, ",")
		given, err := base64.StdEncoding.DecodeString(encoded)
		if version == "v1" && err == nil && hmac.Equal(given, expected) {
			event := new(Event)
			return event, json.Unmarshal(body, event)
		}
	}
	return nil, errors.New("no signature of ours")
}
