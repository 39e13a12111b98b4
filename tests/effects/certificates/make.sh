#!/bin/sh
# Makes the certificates of this folder anew: keys of nobody, for tests alone, valid for a century.
set -eu
work=$(mktemp -d)
touch "$work/index"

authority() { # NAME
    openssl ecparam -name prime256v1 -genkey -noout -out "$work/$1.key"
    openssl req -x509 -new -key "$work/$1.key" -subj "/CN=$1 authority" -days 1 \
        -addext keyUsage=critical,keyCertSign -out "$work/$1.pem"
    sign "$1" "$1" "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign" 21200101000000Z -selfsign
    mv "$work/$1.crt" "$work/$1.pem"
}

server() { # NAME, AUTHORITY, names, end
    openssl ecparam -name prime256v1 -genkey -noout -out "$work/$1.key"
    sign "$1" "$2" "subjectAltName=$3\nauthorityKeyIdentifier=keyid" "$4" ""
    cat "$work/$1.crt" "$work/$1.key" > "$1.pem"
}

sign() { # NAME, AUTHORITY, extension, end, option
    openssl req -new -key "$work/$1.key" -subj "/CN=$1" -out "$work/$1.csr"
    printf '[ca]\ndefault_ca=d\n[d]\ndatabase=%s\nserial=%s\nnew_certs_dir=%s\ndefault_md=sha256\nunique_subject=no\npolicy=p\nx509_extensions=e\n[p]\ncommonName=supplied\n[e]\nsubjectKeyIdentifier=hash\n%b\n' \
        "$work/index" "$work/serial" "$work" "$3" > "$work/config"
    openssl ca -batch -notext -config "$work/config" -cert "$work/$2.pem" -keyfile "$work/$2.key" \
        -create_serial -rand_serial -startdate 20200101000000Z -enddate "$4" $5 \
        -in "$work/$1.csr" -out "$work/$1.crt"
}

here="DNS:localhost,IP:127.0.0.1"
authority trusted
authority stranger
cp "$work/trusted.pem" trusted.pem
server good trusted "$here" 21200101000000Z
server expired trusted "$here" 20210101000000Z
server elsewhere trusted "DNS:elsewhere.invalid" 21200101000000Z
server unknown stranger "$here" 21200101000000Z
rm -r "$work"
